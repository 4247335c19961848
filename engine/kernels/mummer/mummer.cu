// Longest matches of queries in a text, as the MUM of ISPASS 2009: down a suffix tree, and on by its links.
#define LETTERS 25

// nodes: two texels each, the children by letter (0: none), then the edge from the parent: where in the text it begins,
// its length; and the node whose path is this one's without the first letter. Node 0 is the root.
extern "C" __global__ void mummer(cudaTextureObject_t nodes, const unsigned char *text, const unsigned char *queries,
                                  unsigned char *matched, int count, int starts)
{
    int query = blockIdx.x * blockDim.x + threadIdx.x, node = 0, depth = 0;
    for (int start = 0; start < starts; start++) {
        int along = 0;      // letters that match on the edge below the node
        while (start + depth < LETTERS) {
            short4 children = tex1Dfetch<short4>(nodes, 2 * node);
            int letter = queries[(start + depth) * count + query];
            int child = letter < 2 ? (letter == 0 ? children.x : children.y) : (letter == 2 ? children.z : children.w);
            if (child == 0)
                break;
            short4 edge = tex1Dfetch<short4>(nodes, 2 * child + 1);
            along = 1;
            while (along < edge.y && start + depth + along < LETTERS
                   && text[edge.x + along] == queries[(start + depth + along) * count + query])
                along++;
            if (along < edge.y)
                break;
            node = child;
            depth += along;
            along = 0;
        }
        matched[start * count + query] = depth + along;
        if (node != 0) {
            node = tex1Dfetch<short4>(nodes, 2 * node + 1).z;
            depth--;
        }
    }
}
