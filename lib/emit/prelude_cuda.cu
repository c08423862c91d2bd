/* On a GPU: a block is a core, its dynamic shared memory the scratchpad. Needs no header.
 *
 * A chunk of 16 bytes of the scratchpad stands at its address with bits 4 to 6 changed by bits 7 to 9:
 * sticks below each other lie in different banks. */
typedef long long i64;
#define INLINE [[maybe_unused]] static __device__ __forceinline__
#define UNROLL _Pragma("unroll")
#define TABLE  static __device__ const
#define KERNEL extern "C" __global__ void __launch_bounds__(THREADS, 1)
#define CORE   ((int)blockIdx.x)
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#define FIRST_LANE (threadIdx.x % 32 == 0)
#define LANES 32
#define LANE ((int)threadIdx.x % 32)
/* `every` of (n) in turn from `mine` on: as often for all, so that the loop is unrolled. */
#define FOR_SHARE(i, from, mine, n, every)                                                  \
    _Pragma("unroll 4") for (int i##_at = (from); i##_at < (n); i##_at += (every))          \
        for (int i = i##_at + (mine), i##_once = 1; i##_once && (((n) - (from)) % (every) == 0 || i < (n)); i##_once = 0)
#define FOR_ITEMS(i, n) FOR_SHARE(i, 0, (int)threadIdx.x, n, THREADS)
#define FOR_SHARED_ITEMS(i, n, part, parts)                                                 \
    for (int i = (part) * THREADS + (int)threadIdx.x; i < (n); i += (parts) * THREADS)
#define FOR_SHARED_ROWS(i, n, part, parts)                                                  \
    for (int i = (part) * WARPS + (int)threadIdx.x / 32; i < (n); i += (parts) * WARPS)
#define FOR_ALL_ITEMS(i, n) FOR_SHARED_ITEMS(i, n, core, CORES)
#define FOR_ROWS(i, n) for (int i = (int)threadIdx.x / 32; i < (n); i += THREADS / 32)
#define FOR_ALL_ROWS(i, n) for (int i = core + (int)threadIdx.x / 32 * CORES; i < (n); i += CORES * WARPS)
#define FOR_LANES_FROM(k, from, n) FOR_SHARE(k, from, (int)threadIdx.x % 32, n, 32)
#define FOR_LANES(k, n) FOR_LANES_FROM(k, 0, n)

extern __shared__ __align__(1024) char lx_bytes[];

/* The bytes of global memory that a core asks for, where a program counts them. */
#ifdef COUNTS
static __device__ unsigned long long asked_bytes[CORES];
INLINE void asked(const void *at, int bytes)
{
    unsigned global;
    asm("{.reg .pred p; isspacep.global p, %1; selp.u32 %0, 1, 0, p;}" : "=r"(global) : "l"(at));
    if (global) atomicAdd(&asked_bytes[CORE], (unsigned long long)bytes);
}
#define ASKED(at, bytes) asked(at, bytes)
#else
#define ASKED(at, bytes)
#endif

INLINE char *LX(int at)
{
    return lx_bytes + (at ^ (at >> 3 & 0x70));
}

struct f8 { float at[8]; };
struct f4 { float at[4]; };
struct f2 { float at[2]; };

typedef unsigned short item_fp16, item_bf16, item_bool;
typedef float item_fp32;

INLINE float float_of_bits(unsigned x)
{
    return __int_as_float((int)x);
}

INLINE float float_of_fp16(item_fp16 x)
{
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x));
    return f;
}

INLINE item_fp16 fp16_of_float(float x)
{
    item_fp16 h;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}

INLINE item_bf16 bf16_of_float(float x)
{
    item_bf16 h;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(h) : "f"(x));
    return h;
}

/* Within two units of error. */
INLINE float quotient(float a, float b)
{
    float q;
    asm("div.full.f32 %0, %1, %2;" : "=f"(q) : "f"(a), "f"(b));
    return q;
}

/* Within some units of error, as 16 bits need it. */
INLINE float power_of_e(float a)
{
    float y;
    asm("ex2.approx.f32 %0, %1;" : "=f"(y) : "f"(a * 1.442695041f));
    return y;
}

/* Rows of items, moved in one piece where that is 16 bytes or less. */
#define ITEMS_16(type)                                                    \
    struct items8_##type { unsigned short at[8]; };                       \
    struct items4_##type { unsigned short at[4]; };                       \
    struct items2_##type { unsigned short at[2]; };                       \
    INLINE items8_##type take8_##type(const char *p)                      \
    {                                                                     \
        ASKED(p, 16);                                                     \
        const uint4 v = *(const uint4 *)p;                                \
        items8_##type to;                                                 \
        to.at[0] = (unsigned short)v.x, to.at[1] = (unsigned short)(v.x >> 16); \
        to.at[2] = (unsigned short)v.y, to.at[3] = (unsigned short)(v.y >> 16); \
        to.at[4] = (unsigned short)v.z, to.at[5] = (unsigned short)(v.z >> 16); \
        to.at[6] = (unsigned short)v.w, to.at[7] = (unsigned short)(v.w >> 16); \
        return to;                                                        \
    }                                                                     \
    INLINE items4_##type take4_##type(const char *p)                      \
    {                                                                     \
        ASKED(p, 8);                                                      \
        const uint2 v = *(const uint2 *)p;                                \
        items4_##type to;                                                 \
        to.at[0] = (unsigned short)v.x, to.at[1] = (unsigned short)(v.x >> 16); \
        to.at[2] = (unsigned short)v.y, to.at[3] = (unsigned short)(v.y >> 16); \
        return to;                                                        \
    }                                                                     \
    INLINE void put8_##type(char *p, items8_##type v)                     \
    {                                                                     \
        ASKED(p, 16);                                                     \
        uint4 to;                                                         \
        to.x = v.at[0] | (unsigned)v.at[1] << 16, to.y = v.at[2] | (unsigned)v.at[3] << 16; \
        to.z = v.at[4] | (unsigned)v.at[5] << 16, to.w = v.at[6] | (unsigned)v.at[7] << 16; \
        *(uint4 *)p = to;                                                 \
    }                                                                     \
    INLINE void put4_##type(char *p, items4_##type v)                     \
    {                                                                     \
        ASKED(p, 8);                                                      \
        uint2 to;                                                         \
        to.x = v.at[0] | (unsigned)v.at[1] << 16, to.y = v.at[2] | (unsigned)v.at[3] << 16; \
        *(uint2 *)p = to;                                                 \
    }                                                                     \
    INLINE items2_##type take2_##type(const char *p)                      \
    {                                                                     \
        ASKED(p, 4);                                                      \
        const unsigned v = *(const unsigned *)p;                          \
        items2_##type to;                                                 \
        to.at[0] = (unsigned short)v, to.at[1] = (unsigned short)(v >> 16); \
        return to;                                                        \
    }                                                                     \
    INLINE void put2_##type(char *p, items2_##type v)                     \
    {                                                                     \
        ASKED(p, 4);                                                      \
        *(unsigned *)p = v.at[0] | (unsigned)v.at[1] << 16;               \
    }
ITEMS_16(fp16)
ITEMS_16(bf16)
ITEMS_16(bool)

typedef f8 items8_fp32;
typedef f4 items4_fp32;
typedef f2 items2_fp32;

INLINE f4 take4_fp32(const char *p)
{
    ASKED(p, 16);
    const float4 v = *(const float4 *)p;
    f4 to;
    to.at[0] = v.x, to.at[1] = v.y, to.at[2] = v.z, to.at[3] = v.w;
    return to;
}

INLINE void put4_fp32(char *p, f4 v)
{
    ASKED(p, 16);
    float4 to;
    to.x = v.at[0], to.y = v.at[1], to.z = v.at[2], to.w = v.at[3];
    *(float4 *)p = to;
}

INLINE f2 take2_fp32(const char *p)
{
    ASKED(p, 8);
    const float2 v = *(const float2 *)p;
    f2 to;
    to.at[0] = v.x, to.at[1] = v.y;
    return to;
}

INLINE void put2_fp32(char *p, f2 v)
{
    ASKED(p, 8);
    float2 to;
    to.x = v.at[0], to.y = v.at[1];
    *(float2 *)p = to;
}

/* In global memory only: of the scratchpad a chunk is all that lies in a row. */
INLINE f8 take8_fp32(const char *p)
{
    const f4 low = take4_fp32(p), high = take4_fp32(p + 16);
    f8 to;
    UNROLL for (int j = 0; j < 4; j++) to.at[j] = low.at[j], to.at[j + 4] = high.at[j];
    return to;
}

INLINE void put8_fp32(char *p, f8 v)
{
    f4 low, high;
    UNROLL for (int j = 0; j < 4; j++) low.at[j] = v.at[j], high.at[j] = v.at[j + 4];
    put4_fp32(p, low), put4_fp32(p + 16, high);
}

/* The lanes of a warp in a fixed tree; all get the result. */
#define LANES_FOLD(name)                                                  \
    INLINE float lanes_##name(float x)                                    \
    {                                                                     \
        UNROLL for (int far = 16; far; far /= 2)                          \
            x = fold_##name(x, __shfl_xor_sync(~0u, x, far));             \
        return x;                                                         \
    }

#define LANES_LARGEST                                                     \
    INLINE largest lanes_largest(largest x)                               \
    {                                                                     \
        UNROLL for (int far = 16; far; far /= 2) {                        \
            const largest other = {__shfl_xor_sync(~0u, x.y, far), __shfl_xor_sync(~0u, x.at, far)}; \
            x = largest_of(x, other);                                     \
        }                                                                 \
        return x;                                                         \
    }

/* --- copies --- */

INLINE void copy16(char *to, const char *from)
{
    ASKED(to, 16);
    ASKED(from, 16);
    *(uint4 *)to = *(const uint4 *)from;
}

/* From global memory to the scratchpad, in the background; it ends with meet_core. */
INLINE void copy16_in(char *to, const char *from)
{
    ASKED(from, 16);
    const unsigned shared = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared), "l"(from) : "memory");
}

/* Chunk k of row r of a stage, whose address is a multiple of 1 KiB. */
INLINE char *STAGE(int at, int r, int k)
{
    return lx_bytes + at + r * 128 + (k * 2 ^ (r & 7) * 16);
}

/* --- tiles --- */

#define EACH_WARP(w) for (int w = __shfl_sync(~0u, (int)threadIdx.x / 32, 0), once = 1; once; once = 0)
/* A tile of 16 x 8 lies in the registers of a warp. */
struct tile { float at[4]; };
#define TILES(y, n) struct tile y[n]; EACH(j, n) y[j] = no_tile()
#define OF_WARP(y, w) (y)
#define EACH_PAIR(h) UNROLL for (int h = 0; h < 2; h++)
#define STAGE_BEGUN asm volatile("cp.async.commit_group;" ::: "memory")
/* All but the last `later` stages are there, and nobody reads the one before. */
#define STAGE_THERE(later)                                                    \
    do {                                                                      \
        asm volatile("cp.async.wait_group %0;" ::"n"(later) : "memory");      \
        stages_written();                                                     \
    } while (0)
/* y += a b by 16 terms: a warp has 16 of the 64 rows of its group at `a`, and n rows at `b`. Sticks run along the
 * terms, or where they are turned along the rows; then 64 more rows are `far` bytes on. */
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define MULTIPLY(type, n, turned_a, turned_b, y, warp, a, b, far) \
    multiply##n##_##type<turned_a, turned_b>(y, matrix_at(a, far), matrix_at(b, far))
/* What was written into the scratchpad is there for products, too. */
INLINE void stages_written(void)
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
}

/* Sticks as products take them: groups of 8 are 1,024 bytes apart, and chunks have changed places. */
INLINE unsigned long long matrix_at(int at, int far)
{
    const unsigned shared = (unsigned)__cvta_generic_to_shared(lx_bytes) + (unsigned)at;
    return (unsigned long long)(shared >> 4 & 0x3fff) | (unsigned long long)(far >> 4) << 16 | 64ull << 32 | 1ull << 62;
}

#define SUMS2(j) "+f"(y[j].at[0]), "+f"(y[j].at[1]), "+f"(y[j].at[2]), "+f"(y[j].at[3]), \
                 "+f"(y[j + 1].at[0]), "+f"(y[j + 1].at[1]), "+f"(y[j + 1].at[2]), "+f"(y[j + 1].at[3])
#define SUMS4(j) SUMS2(j), SUMS2(j + 2)
#define SUMS8(j) SUMS4(j), SUMS4(j + 4)
#define SUMS16(j) SUMS8(j), SUMS8(j + 8)
#define NAMES2 "%0, %1, %2, %3, %4, %5, %6, %7"
#define NAMES4 NAMES2 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define NAMES8 NAMES4 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES16 NAMES8 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47" \
    ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define PRODUCT(n, tiles, name, type, a, b, turned_a, turned_b)               \
    template <int turn_a, int turn_b> INLINE void multiply##n##_##name(tile *y, unsigned long long at_a, unsigned long long at_b) \
    {                                                                         \
        asm volatile("{.reg .pred p; setp.eq.u32 p, 0, 0; " \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type " {" NAMES##tiles "}, " \
                     "%" #a ", %" #b ", p, 1, 1, %" #turned_a ", %" #turned_b ";}" \
                     : SUMS##tiles(0)                                         \
                     : "l"(at_a), "l"(at_b), "n"(turn_a), "n"(turn_b));       \
    }
#define PRODUCTS(name, type)                                                  \
    PRODUCT(16, 2, name, type, 8, 9, 10, 11)                                  \
    PRODUCT(32, 4, name, type, 16, 17, 18, 19)                                \
    PRODUCT(64, 8, name, type, 32, 33, 34, 35)                                \
    PRODUCT(128, 16, name, type, 64, 65, 66, 67)
PRODUCTS(fp16, "f16")
PRODUCTS(bf16, "bf16")

/* Nobody touches the sums of products that are under way. */
INLINE void product_sums(tile *y, int n)
{
    UNROLL for (int j = 0; j < n; j++)
        asm volatile("" : "+f"(y[j].at[0]), "+f"(y[j].at[1]), "+f"(y[j].at[2]), "+f"(y[j].at[3])::"memory");
}

#define PRODUCT_BEGINS(y, n)                                                  \
    product_sums(y, n);                                                       \
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define PRODUCT_ENDS(y, n)                                                    \
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");            \
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");            \
    product_sums(y, n)
#else
/* Other GPUs: each warp by itself, 16 x 8 by 16 terms at once. */
#define MULTIPLY(type, n, turned_a, turned_b, y, warp, a, b, far) \
    multiply_##type<n / 16, turned_a, turned_b>(y, (warp) % 4 * 16, a, b, far)
#define PRODUCT_BEGINS(y, n)
#define PRODUCT_ENDS(y, n)
INLINE void stages_written(void)
{
    __syncthreads();
}

struct piece { unsigned at[4]; };

template <int turned> INLINE piece piece_at(int at, int row, int far)
{
    piece p;
    const int r = row + (turned ? LANE / 8 % 2 * 8 : LANE % 16), k = turned ? LANE % 8 + LANE / 16 * 8 : LANE / 16 * 8;
    const char *from = turned ? LX(at + k * 128 + r / 64 * far + r % 64 * 2) : LX(at + r * 128 + k * 2);
    const unsigned shared = (unsigned)__cvta_generic_to_shared(from);
    if (turned)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(p.at[0]), "=r"(p.at[1]), "=r"(p.at[2]), "=r"(p.at[3]) : "r"(shared) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(p.at[0]), "=r"(p.at[1]), "=r"(p.at[2]), "=r"(p.at[3]) : "r"(shared) : "memory");
    return p;
}

#define PRODUCT(name, type)                                                   \
    template <int pieces, int turned_a, int turned_b> INLINE void multiply_##name(tile *y, int row, int a, int b, int far) \
    {                                                                         \
        const piece p = piece_at<turned_a>(a, row, far);                      \
        UNROLL for (int j = 0; j < pieces; j++) {                             \
            const piece q = piece_at<turned_b>(b, j * 16, far);               \
            UNROLL for (int h = 0; h < 2; h++)                                \
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
                         : "+f"(y[j * 2 + h].at[0]), "+f"(y[j * 2 + h].at[1]), "+f"(y[j * 2 + h].at[2]), "+f"(y[j * 2 + h].at[3]) \
                         : "r"(p.at[0]), "r"(p.at[1]), "r"(p.at[2]), "r"(p.at[3]), "r"(q.at[h]), "r"(q.at[h + 2])); \
        }                                                                     \
    }
PRODUCT(fp16, "f16")
PRODUCT(bf16, "bf16")
#endif
#define TILE_TYPES

INLINE tile no_tile(void)
{
    tile y;
    y.at[0] = y.at[1] = y.at[2] = y.at[3] = 0;
    return y;
}

INLINE int pair_row(int h)
{
    return LANE / 4 + h * 8;
}

INLINE int pair_column(int)
{
    return LANE % 4 * 2;
}

INLINE f2 pair_of(const tile *y, int h)
{
    f2 pair;
    pair.at[0] = y->at[h * 2], pair.at[1] = y->at[h * 2 + 1];
    return pair;
}

/* A tile in the scratchpad, for another warp. */
INLINE void part_out(int at, const tile *y)
{
    UNROLL for (int h = 0; h < 2; h++)
        *(float2 *)(lx_bytes + at + h * 256 + LANE * 8) = make_float2(y->at[h * 2], y->at[h * 2 + 1]);
}

INLINE f2 pair_in(int at, int h)
{
    const float2 v = *(const float2 *)(lx_bytes + at + h * 256 + LANE * 8);
    f2 pair;
    pair.at[0] = v.x, pair.at[1] = v.y;
    return pair;
}

INLINE void meet_warps(void)
{
    __syncthreads();
}

/* --- waits --- */

INLINE void meet_threads(void)
{
    __syncthreads();
}

INLINE void meet_lanes(void)
{
    __syncwarp();
}

/* With what was copied in the background. */
INLINE void meet_core(void)
{
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
}

INLINE void give_up(int tick, unsigned *fault)
{
    fault[0] = (unsigned)tick + 1;
    fault[1] = (unsigned)CORE;
    __threadfence_system();
    asm volatile("trap;");
}

/* Where a counter's round begins, asked before the core has arrived. */
INLINE unsigned round_of(const unsigned *counter)
{
    unsigned seen = 0;
    if (threadIdx.x == 0)
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
    return seen & -ROUND;
}

/* Arrives with `share` of a round. */
INLINE void arrive_at(unsigned *counter, unsigned share)
{
    meet_threads();
    if (threadIdx.x == 0)
        asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(counter), "r"(share) : "memory");
}

/* Waits for the others: seconds at most, then the launch ends. */
INLINE void wait_for(unsigned *counter, unsigned target, int tick, unsigned *fault)
{
    enum { MOST_POLLS = 1 << 24 };
    if (threadIdx.x == 0) {
        unsigned seen, polls = 0;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
            if (++polls == MOST_POLLS) give_up(tick, fault);
        } while ((int)(seen - target) < 0);
    }
    __syncthreads();
}

/* --- stamps: what each tick takes, added up over launches; or the bytes that it asks for --- */

struct stamps { i64 *sums, first, last, ns; };

INLINE i64 clock_ns(void)
{
    i64 ns;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return ns;
}

/* Of the first thread. */
INLINE i64 stamp_now(void)
{
#ifdef COUNTS
    return (i64)atomicAdd(&asked_bytes[CORE], 0ull);
#else
    return clock64();
#endif
}

INLINE void stamp_add(const stamps *s, int slot, i64 value)
{
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(s->sums + slot * CORES + CORE), "l"(value)
                 : "memory");
}

INLINE stamps stamps_begin(char *area)
{
    stamps s;
    s.sums = (i64 *)area, s.ns = clock_ns(), s.first = s.last = stamp_now();
    return s;
}

INLINE void stamp(stamps *s, int slot)
{
#ifdef COUNTS
    __syncthreads();
#endif
    if (threadIdx.x == 0) {
        stamp_add(s, slot, stamp_now() - s->last);
        s->last = stamp_now();
    }
#ifdef COUNTS
    __syncthreads();
#endif
}

INLINE void stamps_end(const stamps *s, int slot)
{
    if (threadIdx.x == 0) {
        stamp_add(s, slot, stamp_now() - s->first);
        stamp_add(s, slot + 1, clock_ns() - s->ns);
        stamp_add(s, slot + 2, 1);
    }
}

/* Moves a core's part to another place; the two may overlap. */
INLINE void move_in_core(int to, int from, int chunks)
{
    for (int begin = 0; begin < chunks; begin += THREADS) {
        const int i = to < from ? begin + (int)threadIdx.x : chunks - 1 - begin - (int)threadIdx.x;
        const bool there = i >= 0 && i < chunks;
        uint4 held;
        if (there) held = *(const uint4 *)LX(from + i * 16);
        __syncthreads();
        if (there) *(uint4 *)LX(to + i * 16) = held;
        __syncthreads();
    }
}

/* NaNs wherever nobody has written. */
INLINE void poison(void)
{
    for (int i = (int)threadIdx.x * 4; i < LX_BYTES; i += THREADS * 4)
        *(unsigned *)(lx_bytes + i) = 0xffffffffu;
    __syncthreads();
}
