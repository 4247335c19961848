// Search a B+ tree, one thread per query: `btree_find` looks keys up, `btree_range` sums the values of a range of keys.
#define ORDER 8

// Slot i of an inner node: the largest key below its child, and the child. Slot i of a leaf: a key and its value.
// Unused slots hold the largest integer as key, and the last key of an inner node is never looked at.
__device__ int leaf_of(const int *keys, const int *links, const int *used, int height, int key)
{
    int node = 0;
    for (int level = 1; level < height; level++) {
        int slot = 0, last = used[node] - 1;
        while (slot < last && keys[node * ORDER + slot] < key)
            slot++;
        node = links[node * ORDER + slot];
    }
    return node;
}

extern "C" __global__ void btree_find(const int *keys, const int *links, const int *used, const int *queries,
                                      int *found, int height)
{
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    int key = queries[query];
    int leaf = leaf_of(keys, links, used, height, key);
    int value = -1;
    for (int slot = 0; slot < used[leaf]; slot++)
        if (keys[leaf * ORDER + slot] == key) {
            value = links[leaf * ORDER + slot];
            break;
        }
    found[query] = value;
}

extern "C" __global__ void btree_range(const int *keys, const int *links, const int *used, const int *next,
                                       const int *queries, int *total, int height, int width)
{
    int query = blockIdx.x * blockDim.x + threadIdx.x;
    int low = queries[query], sum = 0;
    int leaf = leaf_of(keys, links, used, height, low);
    bool inside = true;
    while (inside && leaf >= 0) {
        for (int slot = 0; slot < used[leaf] && inside; slot++) {
            int key = keys[leaf * ORDER + slot];
            inside = key < low + width;
            if (inside && key >= low)
                sum += links[leaf * ORDER + slot];
        }
        leaf = next[leaf];
    }
    total[query] = sum;
}
