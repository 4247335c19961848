"""The table of forms (grammar.py has its notation): memory, copies, barriers, textures, control, warps.

Source: PTX ISA 9.0, "Instructions"; where ptxas 13.0 takes more or less than the manual says, ptxas.
"""

MEMORY = """
ld                 | weak? LD? L1E? L2E? HINT? PRE? VEC? MOVED        | *{=T~} [] h
ld                 | weak? LD? ca/cg/cs/lu/cv HINT? PRE? VEC? MOVED   | *{=T~} [] h
ld                 | volatile SHAREABLE? PRE? VEC? MOVED              | *{=T~} []          | @1.1
ld                 | relaxed/acquire SCOPE SHAREABLE? L1E? L2E? HINT? PRE? VEC? MOVED | *{=T~} [] h | @6.0,70
ld                 | mmio relaxed sys global? MOVED                   | =T~ []             | @8.2,70
ld                 | global nc L1E? L2E? HINT? PRE? VEC? MOVED  | *{=T~} [] h        | @3.1,32
ld                 | global ca/cg/cs nc HINT? PRE? VEC? MOVED   | *{=T~} [] h        | @3.1,32
ldu                | global? VEC2?  MOVED                               | *{=T~} []          | @2.0,20
st                 | weak? ST? L1E? L2E? HINT? VEC? MOVED                  | [] *{T~} h
st                 | weak? ST? wb/cg/cs/wt HINT? VEC? MOVED           | [] *{T~} h
st                 | volatile SHAREABLE? VEC? MOVED                          | [] *{T~}           | @1.1
st                 | relaxed/release SCOPE SHAREABLE? L1E? L2E? HINT? VEC? MOVED | [] *{T~} h   | @6.0,70
st                 | mmio relaxed sys global? MOVED                   | [] T~              | @8.2,70
atom               | SEM? SCOPE? SHARED? and/or/xor HINT? b32/b64     | =T_ [] T h         | @1.1
atom               | SEM? SCOPE? SHARED? exch HINT? b32/b64           | =T_ [] T h         | @1.1
atom               | SEM? SCOPE? SHARED? exch HINT? b128              | =T_ [] T h         | @8.3,90
atom               | SEM? SCOPE? SHARED? cas b32/b64                  | =T_ [] T T       | @1.1
atom               | SEM? SCOPE? SHARED? cas b16                | =T_ [] T T h       | @6.3,70
atom               | SEM? SCOPE? SHARED? cas b128                     | =T_ [] T T       | @8.3,90
atom               | SEM? SCOPE? SHARED? inc/dec HINT? u32            | =T_ [] T h         | @1.1
atom               | SEM? SCOPE? SHARED? min/max HINT? u32/s32/u64/s64 | =T_ [] T h        | @1.1
atom               | SEM? SCOPE? SHARED? add HINT? u32/s32/u64/f32/f64 | =T_ [] T h        | @1.1
atom               | SEM? SCOPE? SHARED? add noftz HINT? f16x2        | =T_ [] T h         | @6.2,60
atom               | SEM? SCOPE? SHARED? add noftz HINT? f16          | =T_ [] T h         | @6.3,70
atom               | SEM? SCOPE? SHARED? add noftz HINT? bf16/bf16x2  | =T_ [] T h         | @7.8,90
atom               | SEM? SCOPE? global? add HINT? v2/v4 f32          | *{=T} [] *{T} h    | @8.1,90
atom               | SEM? SCOPE? global? add/min/max noftz HINT? v2/v4/v8 f16/bf16 | *{=T} [] *{T} h | @8.1,90
atom               | SEM? SCOPE? global? add/min/max noftz HINT? v2/v4 f16x2/bf16x2 | *{=T} [] *{T} h | @8.1,90
red                | RSEM? SCOPE? SHARED? and/or/xor HINT? b32/b64    | [] T h             | @1.2
red                | RSEM? SCOPE? SHARED? inc/dec HINT? u32           | [] T h             | @1.2
red                | RSEM? SCOPE? SHARED? min/max HINT? u32/s32/u64/s64 | [] T h           | @1.2
red                | RSEM? SCOPE? SHARED? add HINT? u32/s32/u64/f32/f64 | [] T h           | @1.2
red                | RSEM? SCOPE? SHARED? add noftz HINT? f16x2       | [] T h             | @6.2,60
red                | RSEM? SCOPE? SHARED? add noftz HINT? f16         | [] T h             | @6.3,70
red                | RSEM? SCOPE? SHARED? add noftz HINT? bf16/bf16x2 | [] T h             | @7.8,90
red                | RSEM? SCOPE? global? add HINT? v2/v4 f32         | [] *{T} h          | @8.1,90
red                | RSEM? SCOPE? global? add/min/max noftz HINT? v2/v4/v8 f16/bf16 | [] *{T} h | @8.1,90
red                | RSEM? SCOPE? global? add/min/max noftz HINT? v2/v4 f16x2/bf16x2 | [] *{T} h | @8.1,90
prefetch           | global/local? L1/L2                              | []                 | @2.0,20
prefetch           | global? L2::evict_last/L2::evict_normal           | []                 | @7.4,80
prefetch           | param/const? tensormap                           | []                 | @8.0,90
prefetchu          | L1                                               | []@global               | @2.0,20
discard            | global? L2                                       | [] #128            | @7.4,80
applypriority      | global? L2::evict_normal                         | [] #128            | @7.4,80
createpolicy.fractional | POLICY CREATE2? b64                         | =u64 f32?          | @7.4,80
createpolicy.range | global? POLICY CREATE2? b64                      | =u64 []global u32 u32 | @7.4,80
createpolicy.cvt   | L2 b64                                           | =u64 u64           | @7.4,80
-- asynchronous copies, and barrier objects
cp.async           | ca shared/shared::cta global HINT? PRE?          | []shared []global #4,8,16 u32? h | @7.0,80
cp.async           | cg shared/shared::cta global HINT? PRE?          | []shared []global #16 u32? h | @7.0,80
cp.async           | ca shared/shared::cta global HINT? PRE?          | []shared []global #4,8,16 p h | @7.5,80
cp.async           | cg shared/shared::cta global HINT? PRE?          | []shared []global #16 p h | @7.5,80
cp.async.commit_group cp.async.wait_all |                             |                    | @7.0,80
cp.async.wait_group |                                                 | #                  | @7.0,80
cp.async.mbarrier.arrive | noinc? shared/shared::cta? b64             | []                 | @7.0,80
cp.async.bulk      | shared::cluster global mbarrier::complete_tx::bytes multicast::cluster? HINT? \
                   | []shared []global u32%16 []shared m h | @8.0,90
cp.async.bulk      | shared::cta global mbarrier::complete_tx::bytes HINT? | []shared []global u32%16 []shared h \
                   | @8.6,90
cp.async.bulk      | shared::cluster shared::cta mbarrier::complete_tx::bytes | []shared []shared u32%16 []shared \
                   | @8.0,90
cp.async.bulk      | global shared::cta bulk_group HINT? cp_mask?     | []global []shared u32%16 h k | @8.0,90
cp.async.bulk.prefetch.L2 | global HINT?                              | []global u32%16 h     | @8.0,90
cp.async.bulk.commit_group |                                          |                    | @8.0,90
cp.async.bulk.wait_group | read?                                      | #                  | @8.0,90
cp.reduce.async.bulk | shared::cluster shared::cta mbarrier::complete_tx::bytes and/or/xor b32 \
                   | []shared []shared u32%16 []shared | @8.0,90
cp.reduce.async.bulk | shared::cluster shared::cta mbarrier::complete_tx::bytes inc/dec u32 \
                   | []shared []shared u32%16 []shared | @8.0,90
cp.reduce.async.bulk | shared::cluster shared::cta mbarrier::complete_tx::bytes min/max s32/u32 \
                   | []shared []shared u32%16 []shared | @8.0,90
cp.reduce.async.bulk | shared::cluster shared::cta mbarrier::complete_tx::bytes add s32/u32/u64 \
                   | []shared []shared u32%16 []shared | @8.0,90
cp.reduce.async.bulk | global shared::cta bulk_group HINT? and/or/xor b32/b64 | []global []shared u32%16 h | @8.0,90
cp.reduce.async.bulk | global shared::cta bulk_group HINT? inc/dec u32 | []global []shared u32%16 h | @8.0,90
cp.reduce.async.bulk | global shared::cta bulk_group HINT? min/max s32/u32/s64/u64/f16/bf16 \
                   | []global []shared u32%16 h | @8.0,90
cp.reduce.async.bulk | global shared::cta bulk_group HINT? add s32/u32/u64/f32/f64 | []global []shared u32%16 h \
                   | @8.0,90
cp.reduce.async.bulk | global shared::cta bulk_group HINT? add noftz f16/bf16 | []global []shared u32%16 h | @8.0,90
mbarrier.init      | shared/shared::cta? b64                          | []@shared u32             | @7.0,80
mbarrier.inval     | shared/shared::cta? b64                          | []@shared                 | @7.0,80
mbarrier.expect_tx mbarrier.complete_tx | shared/shared::cta/shared::cluster? b64 | []@shared u32 | @8.0,90
mbarrier.expect_tx mbarrier.complete_tx | relaxed cta/cluster shared/shared::cta/shared::cluster? b64 \
                   | []@shared u32 | @8.0,90
mbarrier.arrive mbarrier.arrive_drop | shared/shared::cta? b64 | =u64_ []@shared u32>0? | @7.0,80
mbarrier.arrive mbarrier.arrive_drop | release cta/cluster shared/shared::cta? b64 | =u64_ []@shared u32>0? | @7.0,80
mbarrier.arrive mbarrier.arrive_drop | shared::cluster b64 | =_ []@shared u32>0? | @8.0,90
mbarrier.arrive mbarrier.arrive_drop | release cluster shared::cluster b64 | =_ []@shared u32>0? | @8.0,90
mbarrier.arrive mbarrier.arrive_drop | shared::cluster b64 | []@shared u32>0?     | @8.0,90
mbarrier.arrive mbarrier.arrive_drop | release cluster shared::cluster b64 | []@shared u32>0?     | @8.0,90
mbarrier.arrive mbarrier.arrive_drop | relaxed cta/cluster shared/shared::cta? b64 | =u64_ []@shared u32>0? | @8.0,90
mbarrier.arrive.expect_tx mbarrier.arrive_drop.expect_tx | shared/shared::cta? b64 | =u64_ []@shared u32 | @8.0,90
mbarrier.arrive.expect_tx mbarrier.arrive_drop.expect_tx | release/relaxed cta/cluster shared/shared::cta? b64 \
                   | =u64_ []@shared u32 | @8.0,90
mbarrier.arrive.expect_tx mbarrier.arrive_drop.expect_tx | shared::cluster b64 | =_ []@shared u32 | @8.0,90
mbarrier.arrive.expect_tx mbarrier.arrive_drop.expect_tx | release/relaxed cluster shared::cluster b64 \
                   | =_ []@shared u32 | @8.0,90
mbarrier.arrive mbarrier.arrive_drop | noComplete release? cta? shared/shared::cta? b64 | =u64_ []@shared u32>0 | @7.0,80
mbarrier.pending_count | b64                                          | =u32 u64           | @7.0,80
mbarrier.test_wait | shared/shared::cta? b64 | =p []@shared u64     | @7.0,80
mbarrier.test_wait | acquire/relaxed@8.6 cta/cluster shared/shared::cta? b64 | =p []@shared u64     | @7.0,80
mbarrier.test_wait.parity | shared/shared::cta? b64 | =p []@shared u32<2 | @7.1,80
mbarrier.test_wait.parity | acquire/relaxed@8.6 cta/cluster shared/shared::cta? b64 | =p []@shared u32<2 | @7.1,80
mbarrier.try_wait  | shared/shared::cta? b64 | =p []@shared u64 u32? | @7.8,90
mbarrier.try_wait  | acquire/relaxed@8.6 cta/cluster shared/shared::cta? b64 | =p []@shared u64 u32? | @7.8,90
mbarrier.try_wait.parity | shared/shared::cta? b64 | =p []@shared u32<2 u32? | @7.8,90
mbarrier.try_wait.parity | acquire/relaxed@8.6 cta/cluster shared/shared::cta? b64 | =p []@shared u32<2 u32? | @7.8,90
-- control
bra                | uni?                                             | label
brx.idx            | uni?                                             | u32 targets        | @6.0,30
ret                | uni?                                             |
exit trap brkpt    |                                                  |
nanosleep          | u32                                              | u32                | @6.3,70
pmevent            |                                                  | #0..15
pmevent.mask       |                                                  | #0..65535          | @3.0,20
griddepcontrol     | wait/launch_dependents                           |                    | @7.8,90
setmaxnreg.inc setmaxnreg.dec | sync aligned u32                         | #24..256/8           | @8.0,90a
alloca             | u64/u32                                          | =T T #?            | @7.3,52
stacksave          | u32/u64                                          | =T                 | @7.3,52
stackrestore       | u32/u64                                          | T!                 | @7.3,52
-- barriers and fences
bar.sync bar.cta.sync@7.8 |                                           | u32<16 n?
bar.arrive bar.cta.arrive@7.8 |                                       | u32<16 n              | @2.0,20
bar.red bar.cta.red@7.8 | popc u32                                    | =u32 u32<16 p         | @2.0,20
bar.red bar.cta.red@7.8 | popc u32                                    | =u32 u32<16 n p       | @2.0,20
bar.red bar.cta.red@7.8 | and/or pred                                 | =p u32<16 p           | @2.0,20
bar.red bar.cta.red@7.8 | and/or pred                                 | =p u32<16 n p         | @2.0,20
barrier.sync barrier.cta.sync@7.8 | aligned?                          | u32<16 n?             | @6.0,30
barrier.arrive barrier.cta.arrive@7.8 | aligned?                      | u32<16 n              | @6.0,30
barrier.red barrier.cta.red@7.8 | popc aligned? u32                   | =u32 u32<16 p         | @6.0,30
barrier.red barrier.cta.red@7.8 | popc aligned? u32                   | =u32 u32<16 n p       | @6.0,30
barrier.red barrier.cta.red@7.8 | and/or aligned? pred                | =p u32<16 p           | @6.0,30
barrier.red barrier.cta.red@7.8 | and/or aligned? pred                | =p u32<16 n p         | @6.0,30
bar.warp.sync      |                                                  | u32                | @6.0,30
barrier.cluster.arrive | release/relaxed? aligned?                    |                    | @7.8,90
barrier.cluster.wait | acquire? aligned?                              |                    | @7.8,90
membar             | gl/cta                                           |
membar             | sys                                              |                    | @2.0,20
membar.proxy.alias |                                                  |                    | @7.5,70
fence              | acq_rel/sc/acquire/release? SCOPE                                |                    | @6.0,70
fence.acquire.sync_restrict::shared::cluster |  cluster               |                    | @8.6,90
fence.release.sync_restrict::shared::cta | cluster                    |                    | @8.6,90
fence.proxy.async::generic.acquire.sync_restrict::shared::cluster | cluster | | @8.6,90
fence.proxy.async::generic.release.sync_restrict::shared::cta | cluster | | @8.6,90
fence.mbarrier_init | release cluster                                 |                    | @8.0,90
fence.proxy.alias  |                                                  |                    | @7.5,70
fence.proxy.async  | global/shared::cta/shared::cluster?              |                    | @8.0,90
fence.proxy.tensormap::generic | release SCOPE                        |                    | @8.3,90
fence.proxy.tensormap::generic | acquire SCOPE                        | [] #128            | @8.3,90
-- lanes of a warp, and clusters
shfl               | sync up/down/bfly/idx b32                        | =T_|p? T b32 b32 u32 | @6.0,30
shfl               | up/down/bfly/idx b32                             | =T_|p? T b32 b32   | @3.0,30 <6.3,69
vote               | sync all/any/uni pred                            | =p! p u32           | @6.0,30
vote               | sync ballot b32                                  | =T p u32           | @6.0,30
vote               | all/any/uni pred                                 | =p! p               | @1.2 <6.3,69
vote               | ballot b32                                       | =T p               | @2.0,20 <6.3,69
match              | any sync b32/b64                                 | =u32 T u32         | @6.0,70
match              | all sync b32/b64                                 | =u32_|p? T u32     | @6.0,70
activemask         | b32                                              | =T                 | @6.2,30
redux              | sync add/min/max u32/s32                         | =u32 u32 u32       | @7.0,80
redux              | sync and/or/xor b32                              | =u32 u32 u32          | @7.0,80
redux              | sync min/max abs? NaN? f32                       | =T T u32           | @8.6,100a >redux
elect              | sync                                             | =u32_|p u32        | @8.0,90
mapa               | shared::cluster? u32/u64                         | =T Ta u32          | @7.8,90
getctarank         | shared::cluster? u32/u64                         | =u32 Ta            | @7.8,90
-- textures and surfaces
tex                | 1d/2d/3d/a1d/a2d v4 u32/s32/f32 s32/f32          | 4{=T} texture
tex                | cube/acube v4 u32/s32/f32 f32                    | 4{=T} texture
tex                | 2d/a2d/cube/acube v4 u32/s32/f32 f32             | 4{=T} texture f32  \
                   | !depth comparisons of textures
tex                | 1d/2d/3d/a1d/a2d v4 u32/s32/f32 s32/f32          | 4{=T} texture offset | !offsets of textures
tex                | 2d/a2d v4 u32/s32/f32 f32                        | 4{=T} texture offset f32 | !offsets of textures
tex tex.base       | 2dms/a2dms v4 u32/s32/f32 s32                    | 4{=T} texture      \
                   | @3.2,30 !textures with several samples
tex.base           | 1d/2d/3d/a1d/a2d v4 u32/s32/f32 s32/f32          | 4{=T} texture      | @3.1
tex.base           | cube/acube v4 u32/s32/f32 f32                    | 4{=T} texture      | @3.1
tex.level          | 1d/2d/3d/a1d/a2d/cube/acube v4 u32/s32/f32 f32   | 4{=T} texture f32
tex.grad           | 1d/a1d v4 u32/s32/f32 f32                        | 4{=T} texture 1!{f32} 1!{f32}
tex.grad           | 2d/a2d v4 u32/s32/f32 f32                        | 4{=T} texture 2!{f32} 2!{f32}
tex.grad           | 3d/cube/acube v4 u32/s32/f32 f32                 | 4{=T} texture 4!{f32} 4!{f32}
tld4               | r/g/b/a 2d v4 u32/s32/f32 f32                    | 4{=T} texture
tld4               | r/g/b/a a2d/cube/acube v4 u32/s32/f32 f32        | 4{=T} texture      \
                   | !gathers from layered textures and cube maps
txq                | width/height/depth/array_size/channel_data_type/channel_order/normalized_coords b32 | =b32 []tex
txq                | num_mipmap_levels/num_samples b32                | =b32 []tex
suq                | width/height/depth/array_size/channel_data_type/channel_order/memory_layout b32 | =b32 []surf
suld.b             | 1d/2d/3d/a1d/a2d CACHE? VEC2? b8/b16/b32/b64 trap/clamp/zero | *{=T~} surface
sust.b             | 1d/2d/3d/a1d/a2d STORE? VEC2? b8/b16/b32/b64 trap/clamp/zero | surface *{T~}
"""
