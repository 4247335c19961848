// Calls through pointers: tables of functions in global and constant memory, a pointer chosen per thread, virtual members.
typedef float (*Operation)(float, float);
__device__ float sum(float a, float b) { return a + b; }
__device__ float product(float a, float b) { return a * b; }
__device__ float difference(float a, float b) { return a - b; }
__device__ Operation table[3] = {sum, product, difference};
__constant__ Operation constant_table[3] = {difference, product, sum};

struct Shape {
    __device__ virtual int area(int n) = 0;
    __device__ virtual void grow() {}
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    int side;
    __device__ explicit Square(int s) : side(s) {}
    __device__ int area(int n) override { return side * side + n; }
    __device__ void grow() override { side += 3; }
};
struct Strip : Shape {
    __device__ int area(int n) override { return n; }
};

extern "C" __global__ void indirect_calls(const int *choice, float *out, int *areas, int rounds)
{
    int i = threadIdx.x;
    float value = table[choice[i] % 3](i, 2.0f) + constant_table[i % 3](3.0f, i);
    for (int k = 0; k < rounds; k++) {
        int c = choice[(i + k) % blockDim.x];
        Operation operation = c == 0 ? sum : c == 1 ? product : difference;
        value = operation(value, 1.5f);
    }
    out[i] = value;
    Square square(choice[i]);
    Strip strip;
    Shape *shape = i & 1 ? static_cast<Shape *>(&square) : &strip;
    shape->grow();
    areas[i] = shape->area(i);
}
