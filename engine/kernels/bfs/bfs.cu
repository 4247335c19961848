// Breadth-first search by levels, as in Rodinia: `bfs_expand` visits the frontier, `bfs_advance` makes the next one.
extern "C" __global__ void bfs_expand(const int *first_edge, const int *num_edges, const int *edges,
                                      unsigned char *frontier, unsigned char *next, const unsigned char *visited,
                                      int *cost, int num_nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < num_nodes && frontier[node]) {
        frontier[node] = 0;
        for (int e = first_edge[node]; e < first_edge[node] + num_edges[node]; e++) {
            int to = edges[e];
            if (!visited[to]) {
                cost[to] = cost[node] + 1;  // all writers of one level write the same value
                next[to] = 1;
            }
        }
    }
}

extern "C" __global__ void bfs_advance(unsigned char *frontier, unsigned char *next, unsigned char *visited,
                                       int *levels, int level, int num_nodes)
{
    int node = blockIdx.x * blockDim.x + threadIdx.x;
    if (node < num_nodes && next[node]) {
        frontier[node] = 1;
        visited[node] = 1;
        next[node] = 0;
        *levels = level;
    }
}
