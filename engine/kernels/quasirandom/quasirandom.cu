// Quasi-random numbers: exclusive ors of direction numbers by the bits of an index, then a rational inverse normal.
__constant__ unsigned int directions[3][31] = {
    {1580693937u, 1013904226u, 1520856339u, 2027808452u, 387276917u, 927783462u, 1401181143u, 1908133256u, 267601721u, 774553834u, 1282554523u, 1788458060u, 148188669u, 655009710u, 1161896287u, 1668782864u, 28267713u, 535211634u, 1042159651u, 1549109716u, 2056060805u, 415528758u, 922480615u, 1429432472u, 1936384585u, 295853050u, 802805179u, 1309757276u, 1816709389u, 176177854u, 683129967u},
    {1190082080u, 1697034193u, 324938114u, 697672499u, 1070406884u, 1577358997u, 2101088326u, 452168183u, 954925992u, 1457683801u, 1964635914u, 324628667u, 831318636u, 1338139677u, 1844960718u, 204461951u, 711381296u, 1218341601u, 1725289618u, 84753987u, 591706100u, 1098658725u, 1605610326u, 2112562567u, 472030968u, 978983017u, 1485935130u, 1992887243u, 352355708u, 859307823u, 1366259935u},
    {1873212047u, 769551424u, 1008068081u, 1246584738u, 1820645715u, 113005316u, 636734645u, 1135298150u, 1633861655u, 2142910920u, 500282233u, 1007234346u, 1514448603u, 2021269644u, 380607037u, 887591918u, 1394527647u, 1901471568u, 260935937u, 767883954u, 1274836067u, 1781788180u, 141256645u, 648208886u, 1155160935u, 1662113016u, 21581465u, 528533562u, 1035485679u, 1542437790u, 2049389901u}
};

extern "C" __global__ void quasirandom(float *output, int n, int seed)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        unsigned int x = 0, data = seed + i;
        for (int bit = 0; bit < 31; bit++, data >>= 1)
            if (data & 1)
                x ^= directions[threadIdx.y][bit];
        output[threadIdx.y * n + i] = (float)(x + 1) * 4.656613e-10f;
    }
}

// Return about the x below which a normal variable lies with probability p: the sign apart, a quotient of polynomials.
extern "C" __global__ void inverse_normal(const float *input, float *output, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float p = input[i], q = p - 0.5f, r = q * q;
        float above = fmaf(fmaf(fmaf(-25.44106f, r, 41.391197f), r, -18.615f), r, 2.5066282f);
        float below = fmaf(fmaf(fmaf(fmaf(3.1308291f, r, -21.06224f), r, 23.083367f), r, -8.473511f), r, 1.0f);
        output[i] = q * above / below;
    }
}
