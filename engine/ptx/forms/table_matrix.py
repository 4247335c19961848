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
mma                | sync aligned m8n8k4 row/col row/col f16 f16 f16 f16 | 4!{=f16x2} 2!{f16x2} 2!{f16x2} 4!{f16x2} \
                   | @6.4,70
mma                | sync aligned m8n8k4 row/col row/col f32 f16 f16 f32 | 8!{=f32} 2!{f16x2} 2!{f16x2} 8!{f32} \
                   | @6.4,70
mma                | sync aligned m16n8k8 row col f16 f16 f16 f16     | 2!{=f16x2} 2!{f16x2} 1!{f16x2} 2!{f16x2} \
                   | @6.5,75
mma                | sync aligned m16n8k8 row col f32 f16 f16 f32     | 4!{=f32} 2!{f16x2} 1!{f16x2} 4!{f32} | @6.5,75
mma                | sync aligned m16n8k16 row col f16 f16 f16 f16    | 2!{=f16x2} 4!{f16x2} 2!{f16x2} 2!{f16x2} \
                   | @7.0,80
mma                | sync aligned m16n8k16 row col f32 f16 f16 f32    | 4!{=f32} 4!{f16x2} 2!{f16x2} 4!{f32} | @7.0,80
mma                | sync aligned m16n8k8 row col f32 bf16 bf16 f32   | 4!{=f32} 2!{bf16x2} 1!{bf16x2} 4!{f32} | @7.0,80
mma                | sync aligned m16n8k16 row col f32 bf16 bf16 f32  | 4!{=f32} 4!{bf16x2} 2!{bf16x2} 4!{f32} | @7.0,80
mma                | sync aligned m16n8k4 row col f32 tf32 tf32 f32   | 4!{=f32} 2!{tf32} 1!{tf32} 4!{f32} | @7.0,80
mma                | sync aligned m16n8k8 row col f32 tf32 tf32 f32   | 4!{=f32} 4!{tf32} 2!{tf32} 4!{f32} | @7.0,80
mma                | sync aligned m8n8k4 row col ROUND? f64 f64 f64 f64 | 2!{=f64} 1!{f64} 1!{f64} 2!{f64} | @7.0,80
mma                | sync aligned m16n8k4 row col ROUND? f64 f64 f64 f64 | 4!{=f64} 2!{f64} 1!{f64} 4!{f64} | @7.8,90
mma                | sync aligned m16n8k8 row col ROUND? f64 f64 f64 f64 | 4!{=f64} 4!{f64} 2!{f64} 4!{f64} | @7.8,90
mma                | sync aligned m16n8k16 row col ROUND? f64 f64 f64 f64 | 4!{=f64} 8!{f64} 4!{f64} 4!{f64} | @7.8,90
mma                | sync aligned m8n8k16 row col satfinite? s32 u8/s8 u8/s8 s32 | 2!{=u32} 1!{u32} 1!{u32} 2!{u32} \
                   | @6.5,75
mma                | sync aligned m16n8k16 row col satfinite? s32 u8/s8 u8/s8 s32 | 4!{=u32} 2!{u32} 1!{u32} 4!{u32} \
                   | @7.0,80
mma                | sync aligned m16n8k32 row col satfinite? s32 u8/s8 u8/s8 s32 | 4!{=u32} 4!{u32} 2!{u32} 4!{u32} \
                   | @7.0,80
mma                | sync aligned m8n8k32 row col satfinite? s32 u4/s4 u4/s4 s32 | 2!{=u32} 1!{u32} 1!{u32} 2!{u32} \
                   | @6.5,75
mma                | sync aligned m16n8k32 row col satfinite? s32 u4/s4 u4/s4 s32 | 4!{=u32} 2!{u32} 1!{u32} 4!{u32} \
                   | @7.0,80
mma                | sync aligned m16n8k64 row col satfinite? s32 u4/s4 u4/s4 s32 | 4!{=u32} 4!{u32} 2!{u32} 4!{u32} \
                   | @7.0,80
mma                | sync aligned m8n8k128 row col s32 b1 b1 s32 xor popc | 2!{=u32} 1!{u32} 1!{u32} 2!{u32} | @7.0,75
mma                | sync aligned m8n8k128 row col s32 b1 b1 s32 and popc | 2!{=u32} 1!{u32} 1!{u32} 2!{u32} | @7.1,80
mma                | sync aligned m16n8k128 row col s32 b1 b1 s32 xor popc | 4!{=u32} 2!{u32} 1!{u32} 4!{u32} | @7.0,80
mma                | sync aligned m16n8k128 row col s32 b1 b1 s32 and popc | 4!{=u32} 2!{u32} 1!{u32} 4!{u32} | @7.1,80
mma                | sync aligned m16n8k256 row col s32 b1 b1 s32 xor popc | 4!{=u32} 4!{u32} 2!{u32} 4!{u32} | @7.0,80
mma                | sync aligned m16n8k256 row col s32 b1 b1 s32 and popc | 4!{=u32} 4!{u32} 2!{u32} 4!{u32} | @7.1,80
mma                | sync aligned m16n8k16 row col f32 F8 F8 f32      | 4!{=f32} 2!{b32} 1!{b32} 4!{f32} | @8.7,89
mma                | sync aligned m16n8k32 row col f32 F8 F8 f32      | 4!{=f32} 4!{b32} 2!{b32} 4!{f32} | @8.4,89
mma                | sync aligned m16n8k16 row col f16 F8 F8 f16      | 2!{=f16x2} 2!{b32} 1!{b32} 2!{f16x2} | @8.7,89
mma                | sync aligned m16n8k32 row col f16 F8 F8 f16      | 2!{=f16x2} 4!{b32} 2!{b32} 2!{f16x2} | @8.7,89
SPARSE             | sync aligned m16n8k16 row col f16 f16 f16 f16    \
                   | 2!{=f16x2} 2!{f16x2} 2!{f16x2} 2!{f16x2} u32! #0..3 | @7.1,80
SPARSE             | sync aligned m16n8k16 row col f32 f16 f16 f32    \
                   | 4!{=f32} 2!{f16x2} 2!{f16x2} 4!{f32} u32! #0..3 | @7.1,80
SPARSE             | sync aligned m16n8k16 row col f32 bf16 bf16 f32  \
                   | 4!{=f32} 2!{bf16x2} 2!{bf16x2} 4!{f32} u32! #0..3 | @7.1,80
SPARSE             | sync aligned m16n8k32 row col f16 f16 f16 f16    \
                   | 2!{=f16x2} 4!{f16x2} 4!{f16x2} 2!{f16x2} u32! #0..1 | @7.1,80
SPARSE             | sync aligned m16n8k32 row col f32 f16 f16 f32    \
                   | 4!{=f32} 4!{f16x2} 4!{f16x2} 4!{f32} u32! #0..1 | @7.1,80
SPARSE             | sync aligned m16n8k32 row col f32 bf16 bf16 f32  \
                   | 4!{=f32} 4!{bf16x2} 4!{bf16x2} 4!{f32} u32! #0..1 | @7.1,80
SPARSE             | sync aligned m16n8k8 row col f32 tf32 tf32 f32   \
                   | 4!{=f32} 2!{tf32} 2!{tf32} 4!{f32} u32! #0..3 | @7.1,80
SPARSE             | sync aligned m16n8k16 row col f32 tf32 tf32 f32  \
                   | 4!{=f32} 4!{tf32} 4!{tf32} 4!{f32} u32! #0..1 | @7.1,80
SPARSE             | sync aligned m16n8k32 row col satfinite? s32 u8/s8 u8/s8 s32 \
                   | 4!{=u32} 2!{u32} 2!{u32} 4!{u32} u32! #0..1 | @7.1,80
SPARSE             | sync aligned m16n8k64 row col satfinite? s32 u8/s8 u8/s8 s32 \
                   | 4!{=u32} 4!{u32} 4!{u32} 4!{u32} u32! #0..0 | @7.1,80
SPARSE             | sync aligned m16n8k64 row col satfinite? s32 u4/s4 u4/s4 s32 \
                   | 4!{=u32} 2!{u32} 2!{u32} 4!{u32} u32! #0..1 | @7.1,80
SPARSE             | sync aligned m16n8k128 row col satfinite? s32 u4/s4 u4/s4 s32 \
                   | 4!{=u32} 4!{u32} 4!{u32} 4!{u32} u32! #0..0 | @7.1,80
SPARSE             | sync aligned m16n8k64 row col f32 F8 F8 f32      | 4!{=f32} 4!{b32} 4!{b32} 4!{f32} u32! #0..0 \
                   | @8.4,89
mma.sp::ordered_metadata | sync aligned m16n8k64 row col f16 F8 F8 f16      \
                   | 2!{=f16x2} 4!{b32} 4!{b32} 2!{f16x2} u32! #0..0 | @8.7,89
wmma.load.a wmma.load.b | sync aligned row/col m16n16k16/m8n32k16/m32n8k16 SPACEW? f16 | 8!{=f16x2} [] s? | @6.0,70
wmma.load.c        | sync aligned row/col m16n16k16/m8n32k16/m32n8k16 SPACEW? f16 | 4!{=f16x2} [] s? | @6.0,70
wmma.store.d       | sync aligned row/col m16n16k16/m8n32k16/m32n8k16 SPACEW? f16 | [] 4!{f16x2} s? | @6.0,70
wmma.load.c        | sync aligned row/col m16n16k16/m8n32k16/m32n8k16 SPACEW? f32 | 8!{=f32} [] s? | @6.0,70
wmma.store.d       | sync aligned row/col m16n16k16/m8n32k16/m32n8k16 SPACEW? f32 | [] 8!{f32} s? | @6.0,70
wmma.load.c        | sync aligned row/col m16n16k16/m8n32k16/m32n8k16 SPACEW? s32 | 8!{=u32} [] s? | @6.3,72
wmma.store.d       | sync aligned row/col m16n16k16/m8n32k16/m32n8k16 SPACEW? s32 | [] 8!{u32} s? | @6.3,72
wmma.load.a wmma.load.b | sync aligned row/col m16n16k16 SPACEW? u8/s8 | 2!{=u32} [] s?     | @6.3,72
wmma.load.a        | sync aligned row/col m8n32k16 SPACEW? u8/s8      | 1!{=u32} [] s?      | @6.3,72
wmma.load.b        | sync aligned row/col m8n32k16 SPACEW? u8/s8      | 4!{=u32} [] s?      | @6.3,72
wmma.load.a        | sync aligned row/col m32n8k16 SPACEW? u8/s8      | 4!{=u32} [] s?      | @6.3,72
wmma.load.b        | sync aligned row/col m32n8k16 SPACEW? u8/s8      | 1!{=u32} [] s?      | @6.3,72
wmma.load.a wmma.load.b | sync aligned row/col m16n16k16 SPACEW? bf16 | 4!{=bf16x2} [] s?      | @7.0,80
wmma.load.a        | sync aligned row/col m8n32k16 SPACEW? bf16       | 2!{=bf16x2} [] s?      | @7.0,80
wmma.load.b        | sync aligned row/col m8n32k16 SPACEW? bf16       | 8!{=bf16x2} [] s?      | @7.0,80
wmma.load.a        | sync aligned row/col m32n8k16 SPACEW? bf16       | 8!{=bf16x2} [] s?      | @7.0,80
wmma.load.b        | sync aligned row/col m32n8k16 SPACEW? bf16       | 2!{=bf16x2} [] s?      | @7.0,80
wmma.load.a wmma.load.b | sync aligned row/col m16n16k8 SPACEW? tf32  | 4!{=tf32} [] s?      | @7.0,80
wmma.load.c        | sync aligned row/col m16n16k8 SPACEW? f32        | 8!{=f32} [] s?      | @7.0,80
wmma.store.d       | sync aligned row/col m16n16k8 SPACEW? f32        | [] 8!{f32} s?       | @7.0,80
wmma.load.a wmma.load.b | sync aligned row/col m8n8k4 SPACEW? f64     | 1!{=f64} [] s?      | @7.0,80
wmma.load.c        | sync aligned row/col m8n8k4 SPACEW? f64          | 2!{=f64} [] s?      | @7.0,80
wmma.store.d       | sync aligned row/col m8n8k4 SPACEW? f64          | [] 2!{f64} s?       | @7.0,80
wmma.load.a        | sync aligned row m8n8k32 SPACEW? u4/s4           | 1!{=u32} [] s?      | @6.3,75
wmma.load.b        | sync aligned col m8n8k32 SPACEW? u4/s4           | 1!{=u32} [] s?      | @6.3,75
wmma.load.a        | sync aligned row m8n8k128 SPACEW? b1             | 1!{=u32} [] s?      | @6.3,75
wmma.load.b        | sync aligned col m8n8k128 SPACEW? b1             | 1!{=u32} [] s?      | @6.3,75
wmma.load.c        | sync aligned row/col m8n8k32/m8n8k128 SPACEW? s32 | 2!{=u32} [] s?     | @6.3,75
wmma.store.d       | sync aligned row/col m8n8k32/m8n8k128 SPACEW? s32 | [] 2!{u32} s?      | @6.3,75
wmma.mma           | sync aligned row/col row/col m16n16k16/m8n32k16/m32n8k16 f16 f16 \
                   | 4!{=f16x2} 8!{f16x2} 8!{f16x2} 4!{f16x2} | @6.0,70
wmma.mma           | sync aligned row/col row/col m16n16k16/m8n32k16/m32n8k16 f32 f16 \
                   | 8!{=f32} 8!{f16x2} 8!{f16x2} 4!{f16x2} | @6.0,70
wmma.mma           | sync aligned row/col row/col m16n16k16/m8n32k16/m32n8k16 f16 f32 \
                   | 4!{=f16x2} 8!{f16x2} 8!{f16x2} 8!{f32} | @6.0,70
wmma.mma           | sync aligned row/col row/col m16n16k16/m8n32k16/m32n8k16 f32 f32 \
                   | 8!{=f32} 8!{f16x2} 8!{f16x2} 8!{f32} | @6.0,70
wmma.mma           | sync aligned row/col row/col m16n16k16 s32 u8 u8 s32 satfinite? \
                   | 8!{=u32} 2!{u32} 2!{u32} 8!{u32} | @6.3,72
wmma.mma           | sync aligned row/col row/col m16n16k16 s32 s8 s8 s32 satfinite? \
                   | 8!{=u32} 2!{u32} 2!{u32} 8!{u32} | @6.3,72
wmma.mma           | sync aligned row/col row/col m8n32k16 s32 u8 u8 s32 satfinite? \
                   | 8!{=u32} 1!{u32} 4!{u32} 8!{u32} | @6.3,72
wmma.mma           | sync aligned row/col row/col m8n32k16 s32 s8 s8 s32 satfinite? \
                   | 8!{=u32} 1!{u32} 4!{u32} 8!{u32} | @6.3,72
wmma.mma           | sync aligned row/col row/col m32n8k16 s32 u8 u8 s32 satfinite? \
                   | 8!{=u32} 4!{u32} 1!{u32} 8!{u32} | @6.3,72
wmma.mma           | sync aligned row/col row/col m32n8k16 s32 s8 s8 s32 satfinite? \
                   | 8!{=u32} 4!{u32} 1!{u32} 8!{u32} | @6.3,72
wmma.mma           | sync aligned row/col row/col m16n16k16 f32 bf16 bf16 f32 \
                   | 8!{=f32} 4!{bf16x2} 4!{bf16x2} 8!{f32} | @7.0,80
wmma.mma           | sync aligned row/col row/col m8n32k16 f32 bf16 bf16 f32 \
                   | 8!{=f32} 2!{bf16x2} 8!{bf16x2} 8!{f32} | @7.0,80
wmma.mma           | sync aligned row/col row/col m32n8k16 f32 bf16 bf16 f32 \
                   | 8!{=f32} 8!{bf16x2} 2!{bf16x2} 8!{f32} | @7.0,80
wmma.mma           | sync aligned row/col row/col m16n16k8 f32 tf32 tf32 f32 | 8!{=f32} 4!{tf32} 4!{tf32} 8!{f32} \
                   | @7.0,80
wmma.mma           | sync aligned row/col row/col m8n8k4 ROUND? f64 f64 f64 f64 | 2!{=f64} 1!{f64} 1!{f64} 2!{f64} \
                   | @7.0,80
wmma.mma           | sync aligned row col m8n8k32 s32 u4 u4 s32 satfinite? | 2!{=u32} 1!{u32} 1!{u32} 2!{u32} | @6.3,75
wmma.mma           | sync aligned row col m8n8k32 s32 s4 s4 s32 satfinite? | 2!{=u32} 1!{u32} 1!{u32} 2!{u32} | @6.3,75
wmma.mma           | xor popc sync aligned row col m8n8k128 s32 b1 b1 s32 | 2!{=u32} 1!{u32} 1!{u32} 2!{u32} | @6.3,75
wmma.mma           | and popc sync aligned row col m8n8k128 s32 b1 b1 s32 | 2!{=u32} 1!{u32} 1!{u32} 2!{u32} | @7.1,80
"""
