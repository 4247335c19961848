"""The table of forms (grammar.py has its notation): matrices of a warp, and what rfview does not execute.

Source: PTX ISA 9.0, "Warp Level Matrix Instructions"; where ptxas 13.0 takes more or less than the manual says, ptxas.
"""

MATRIX = """
ldmatrix           | sync aligned m8n8 x1/x2/x4 trans? shared/shared::cta? b16 | *!{=b32} [] | @6.5,75
ldmatrix           | sync aligned m16n16 x1/x2 trans shared/shared::cta? b8 | any any        | @8.6,100a !tiles of bytes
ldmatrix           \
                   | sync aligned m8n16/m16n16 x1/x2/x4 trans? shared/shared::cta? b8x16.b6x16_p32/b8x16.b4x16_p64 b8 \
                   | any any | @8.6,100a !tiles of bytes
stmatrix           | sync aligned m8n8 x1/x2/x4 trans? shared/shared::cta? b16 | [] *!{b32}  | @7.8,90
stmatrix           | sync aligned m16n8 x1/x2/x4 trans shared/shared::cta? b8 | any any      | @8.6,100a !tiles of bytes
movmatrix          | sync aligned m8n8 trans b16                      | =b32 b32!          | @7.8,75
-- products; Volta's m8n8k4 is four products of halves at once
mma                | sync aligned m8n8k4 row/col row/col f16 f16 f16 f16 | 4!{=f16x2} 2!{f16x2} 2!{f16x2} 4!{f16x2} \
                   | @6.4,70 >volta
mma                | sync aligned m8n8k4 row/col row/col f32 f16 f16 f32 | 8!{=f32} 2!{f16x2} 2!{f16x2} 8!{f32} \
                   | @6.4,70 >volta
mma                | sync aligned m16n8k8@6.5,75/m16n8k16@7.0,80 row col f16 f16 f16 f16        | =D:T A:U B:V C:W
mma                | sync aligned m16n8k8@6.5,75/m16n8k16@7.0,80 row col f32 f16 f16 f32        | =D:T A:U B:V C:W
mma                | sync aligned m16n8k8/m16n8k16 row col f32 bf16 bf16 f32 | =D:T A:U B:V C:W | @7.0,80
mma                | sync aligned m16n8k4/m16n8k8 row col f32 tf32 tf32 f32  | =D:T A:U B:V C:W | @7.0,80
mma                | sync aligned m8n8k4 row col ROUND? f64 f64 f64 f64      | =D:T A:U B:V C:W | @7.0,80
mma                | sync aligned m16n8k4/m16n8k8/m16n8k16 row col ROUND? f64 f64 f64 f64 | =D:T A:U B:V C:W | @7.8,90
mma                | sync aligned m8n8k16@6.5,75/m16n8k16@7.0,80/m16n8k32@7.0,80 row col satfinite? s32 u8/s8 u8/s8 s32 \
                   | =D:T A:U B:V C:W
mma                | sync aligned m8n8k32@6.5,75/m16n8k32@7.0,80/m16n8k64@7.0,80 row col satfinite? s32 u4/s4 u4/s4 s32 \
                   | =D:T A:U B:V C:W
mma                | sync aligned m8n8k128@7.0,75/m16n8k128@7.0,80/m16n8k256@7.0,80 row col s32 b1 b1 s32 xor popc \
                   | =D:T A:U B:V C:W
mma                | sync aligned m8n8k128/m16n8k128/m16n8k256 row col s32 b1 b1 s32 and popc \
                   | =D:T A:U B:V C:W | @7.1,80
mma                | sync aligned m16n8k16@8.7,89/m16n8k32@8.4,89 row col f32 F8 F8 f32   | =D:T A:U B:V C:W
mma                | sync aligned m16n8k16/m16n8k32 row col f16 F8 F8 f16 | =D:T A:U B:V C:W  | @8.7,89
-- half of A is stored; then come its places, and which lanes hold them
mma.sp mma.sp::ordered_metadata@8.5 | sync aligned m16n8k16 row col f16 f16 f16 f16   | =D:T H:U B:V C:W u32! #0..3 | @7.1,80
mma.sp mma.sp::ordered_metadata@8.5 | sync aligned m16n8k16 row col f32 f16 f16 f32   | =D:T H:U B:V C:W u32! #0..3 | @7.1,80
mma.sp mma.sp::ordered_metadata@8.5 | sync aligned m16n8k16 row col f32 bf16 bf16 f32 | =D:T H:U B:V C:W u32! #0..3 | @7.1,80
mma.sp mma.sp::ordered_metadata@8.5 | sync aligned m16n8k32 row col f16 f16 f16 f16   | =D:T H:U B:V C:W u32! #0..1 | @7.1,80
mma.sp mma.sp::ordered_metadata@8.5 | sync aligned m16n8k32 row col f32 f16 f16 f32   | =D:T H:U B:V C:W u32! #0..1 | @7.1,80
mma.sp mma.sp::ordered_metadata@8.5 | sync aligned m16n8k32 row col f32 bf16 bf16 f32 | =D:T H:U B:V C:W u32! #0..1 | @7.1,80
mma.sp mma.sp::ordered_metadata@8.5 | sync aligned m16n8k8 row col f32 tf32 tf32 f32  | =D:T H:U B:V C:W u32! #0..3 | @7.1,80
mma.sp mma.sp::ordered_metadata@8.5 | sync aligned m16n8k16 row col f32 tf32 tf32 f32 | =D:T H:U B:V C:W u32! #0..1 | @7.1,80
mma.sp mma.sp::ordered_metadata@8.5 | sync aligned m16n8k32 row col satfinite? s32 u8/s8 u8/s8 s32 \
                   | =D:T H:U B:V C:W u32! #0..1 | @7.1,80
mma.sp mma.sp::ordered_metadata@8.5 | sync aligned m16n8k64 row col satfinite? s32 u8/s8 u8/s8 s32 \
                   | =D:T H:U B:V C:W u32! #0..0 | @7.1,80
mma.sp mma.sp::ordered_metadata@8.5 | sync aligned m16n8k64 row col satfinite? s32 u4/s4 u4/s4 s32 \
                   | =D:T H:U B:V C:W u32! #0..1 | @7.1,80
mma.sp mma.sp::ordered_metadata@8.5 | sync aligned m16n8k128 row col satfinite? s32 u4/s4 u4/s4 s32 \
                   | =D:T H:U B:V C:W u32! #0..0 | @7.1,80
mma.sp mma.sp::ordered_metadata@8.5 | sync aligned m16n8k64 row col f32 F8 F8 f32     | =D:T H:U B:V C:W u32! #0..0 | @8.4,89
-- wmma, whose lanes hold halves twice
wmma.load.a wmma.load.b | sync aligned row/col SHAPEW SPACEW? f16     | 8!{=f16x2} [] s?    | @6.0,70
wmma.load.a        | sync aligned row/col SHAPEW SPACEW? u8@6.3,72/s8@6.3,72/bf16@7.0,80 | =A:T [] s?
wmma.load.a        | sync aligned row/col m16n16k8 SPACEW? tf32       | =A:T [] s?          | @7.0,80
wmma.load.a        | sync aligned row/col m8n8k4 SPACEW? f64          | =A:T [] s?          | @7.0,80
wmma.load.a        | sync aligned row m8n8k32 SPACEW? u4/s4           | =A:T [] s?          | @6.3,75
wmma.load.a        | sync aligned row m8n8k128 SPACEW? b1             | =A:T [] s?          | @6.3,75
wmma.load.b        | sync aligned row/col SHAPEW SPACEW? u8@6.3,72/s8@6.3,72/bf16@7.0,80 | =B:T [] s?
wmma.load.b        | sync aligned row/col m16n16k8 SPACEW? tf32       | =B:T [] s?          | @7.0,80
wmma.load.b        | sync aligned row/col m8n8k4 SPACEW? f64          | =B:T [] s?          | @7.0,80
wmma.load.b        | sync aligned col m8n8k32 SPACEW? u4/s4           | =B:T [] s?          | @6.3,75
wmma.load.b        | sync aligned col m8n8k128 SPACEW? b1             | =B:T [] s?          | @6.3,75
wmma.load.c        | sync aligned row/col SHAPEW SPACEW? f16/f32/s32@6.3,72 | =C:T [] s?     | @6.0,70
wmma.load.c        | sync aligned row/col m16n16k8 SPACEW? f32        | =C:T [] s?          | @7.0,80
wmma.load.c        | sync aligned row/col m8n8k4 SPACEW? f64          | =C:T [] s?          | @7.0,80
wmma.load.c        | sync aligned row/col m8n8k32/m8n8k128 SPACEW? s32 | =C:T [] s?         | @6.3,75
wmma.store.d       | sync aligned row/col SHAPEW SPACEW? f16/f32/s32@6.3,72 | [] D:T s?      | @6.0,70
wmma.store.d       | sync aligned row/col m16n16k8 SPACEW? f32        | [] D:T s?           | @7.0,80
wmma.store.d       | sync aligned row/col m8n8k4 SPACEW? f64          | [] D:T s?           | @7.0,80
wmma.store.d       | sync aligned row/col m8n8k32/m8n8k128 SPACEW? s32 | [] D:T s?          | @6.3,75
wmma.mma           | sync aligned row/col row/col SHAPEW f16/f32 f16/f32 | =D:T 8!{f16x2} 8!{f16x2} C:U | @6.0,70
wmma.mma           | sync aligned row/col row/col SHAPEW s32 u8 u8 s32 satfinite? | =D:T A:U B:V C:W | @6.3,72
wmma.mma           | sync aligned row/col row/col SHAPEW s32 s8 s8 s32 satfinite? | =D:T A:U B:V C:W | @6.3,72
wmma.mma           | sync aligned row/col row/col SHAPEW f32 bf16 bf16 f32   | =D:T A:U B:V C:W | @7.0,80
wmma.mma           | sync aligned row/col row/col m16n16k8 f32 tf32 tf32 f32 | =D:T A:U B:V C:W | @7.0,80
wmma.mma           | sync aligned row/col row/col m8n8k4 ROUND? f64 f64 f64 f64 | =D:T A:U B:V C:W | @7.0,80
wmma.mma           | sync aligned row col m8n8k32 s32 u4 u4 s32 satfinite? | =D:T A:U B:V C:W | @6.3,75
wmma.mma           | sync aligned row col m8n8k32 s32 s4 s4 s32 satfinite? | =D:T A:U B:V C:W | @6.3,75
wmma.mma           | xor popc sync aligned row col m8n8k128 s32 b1 b1 s32 | =D:T A:U B:V C:W | @6.3,75
wmma.mma           | and popc sync aligned row col m8n8k128 s32 b1 b1 s32 | =D:T A:U B:V C:W | @7.1,80
"""
