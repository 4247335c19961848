// The four workloads measured on GPGPU-Sim. Host side: inputs a[i] = (i % 7) * 0.5f, b[i] = (i % 5) * 0.25f.
__global__ void vecadd(const float*a,const float*b,float*c,int n){int i=blockIdx.x*blockDim.x+threadIdx.x;if(i<n)c[i]=a[i]+b[i];}
__global__ void sgemm(const float*A,const float*B,float*C,int n){
  __shared__ float As[16][16],Bs[16][16];
  int tx=threadIdx.x,ty=threadIdx.y,row=blockIdx.y*16+ty,col=blockIdx.x*16+tx;float s=0;
  for(int t=0;t<n/16;t++){As[ty][tx]=A[row*n+t*16+tx];Bs[ty][tx]=B[(t*16+ty)*n+col];__syncthreads();
    #pragma unroll
    for(int k=0;k<16;k++)s+=As[ty][k]*Bs[k][tx];
    __syncthreads();}
  C[row*n+col]=s;}
__global__ void reduce(const float*a,float*o,int n){
  __shared__ float s[256];int t=threadIdx.x;float v=0;
  for(int i=blockIdx.x*256+t;i<n;i+=gridDim.x*256)v+=a[i];
  s[t]=v;__syncthreads();
  for(int w=128;w>0;w>>=1){if(t<w)s[t]+=s[t+w];__syncthreads();}
  if(t==0)o[blockIdx.x]=s[0];}
__global__ void fmak(float*o,int it,float m){
  int i=blockIdx.x*blockDim.x+threadIdx.x;float a=i,b=i+1,c=i+2,d=i+3;
  for(int k=0;k<it;k++){
    #pragma unroll
    for(int u=0;u<8;u++){a=a*m+b;b=b*m+c;c=c*m+d;d=d*m+a;}
  }
  o[i]=a+b+c+d;}
