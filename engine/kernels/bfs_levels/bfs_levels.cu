// Breadth-first search with one kernel: each launch visits the nodes of one level, and gives theirs to the next.
extern "C" __global__ void bfs_levels(const int *first_edge, const int *num_edges, const int *edges, int *cost,
                                      int *levels, int level, int source, int num_nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node >= num_nodes || (level ? cost[node] != level : node != source))
        return;
    if (level == 0)
        cost[node] = 0;
    for (int e = first_edge[node]; e < first_edge[node] + num_edges[node]; e++) {
        int to = edges[e];
        if (cost[to] < 0) {
            cost[to] = level + 1;  // all writers of one launch write the same value
            *levels = level + 1;
        }
    }
}
