// Search a B+ tree of order 256, a CTA per query and a thread per slot, as Rodinia's b+tree: single keys, then ranges.
#define ORDER 256

// Return the child whose keys begin at or below a key, while its next sibling's begin above; all threads take part.
__device__ int child_of(const int *keys, const int *links, int node, int key, int *chosen)
{
    int t = threadIdx.x, at = node * ORDER + t;
    if (keys[at] <= key && (t == ORDER - 1 || key < keys[at + 1]))
        *chosen = links[at];
    __syncthreads();
    int child = *chosen;
    __syncthreads();
    return child;
}

// Inner nodes: slot i has the least key below child i, and the child; unused slots the largest integer. The children
// of the lowest are numbers of leaves, which have their keys and values side by side.
extern "C" __global__ void find_k(const int *inner_keys, const int *inner_links, const int *leaf_keys,
                                  const int *values, const int *queries, int *found, int height)
{
    __shared__ int chosen;
    int key = queries[blockIdx.x], node = 0;
    if (threadIdx.x == 0)
        found[blockIdx.x] = -1;
    for (int level = 1; level < height; level++)
        node = child_of(inner_keys, inner_links, node, key, &chosen);
    int at = node * ORDER + threadIdx.x;
    if (leaf_keys[at] == key)
        found[blockIdx.x] = values[at];
}

// first: the place of a key among all, -1 if there is none; length: how many there are to the key `width` above it.
extern "C" __global__ void find_range_k(const int *inner_keys, const int *inner_links, const int *leaf_keys,
                                        const int *lows, int *first, int *length, int height, int width)
{
    __shared__ int chosen_low, chosen_high, place_low, place_high;
    int low = lows[blockIdx.x], high = low + width, node_low = 0, node_high = 0;
    if (threadIdx.x == 0)
        place_low = place_high = -1;
    for (int level = 1; level < height; level++) {
        node_low = child_of(inner_keys, inner_links, node_low, low, &chosen_low);
        node_high = child_of(inner_keys, inner_links, node_high, high, &chosen_high);
    }
    int at_low = node_low * ORDER + threadIdx.x, at_high = node_high * ORDER + threadIdx.x;
    if (leaf_keys[at_low] == low)
        place_low = at_low;
    if (leaf_keys[at_high] == high)
        place_high = at_high;
    __syncthreads();
    if (threadIdx.x == 0) {
        first[blockIdx.x] = place_low;
        length[blockIdx.x] = place_low >= 0 && place_high >= 0 ? place_high - place_low + 1 : 0;
    }
}
