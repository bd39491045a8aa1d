/* The tile of products by quads, for the instruction set that the macros before it name:
 *   VECTOR, VECTORS  a register of int32 lanes, and how many are one row of a tile
 *   ROWS, SUFFIX     of a tile; what the names end in
 *   TARGET           the attribute of functions
 *   LOAD, STORE, ZERO, SPREAD(int32)
 *   WIDE             1: EVEN(x), ODD(x) are numbers of uint8 as 16 bits, MADD(sum, x16, y16) adds products of those
 *                    0: DOT(sum, u8, s8) */
#define JOIN_(a, b) a##b
#define JOIN(a, b)  JOIN_(a, b)
#define BODY        JOIN(tile_body_, SUFFIX)

/* `rows` is a constant where this is inlined. */
TARGET static inline __attribute__((always_inline)) void BODY(const int rows, const uint8_t *x, const int32_t *offset,
                                                              int64_t depth, const int32_t *panel, int32_t *sums)
{
    VECTOR sum[ROWS][VECTORS];
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < VECTORS; v++) sum[r][v] = ZERO;
    for (int64_t k = 0; k < depth; k++, panel += rows * (1 + WIDE)) {
        const uint8_t *at = x + offset[k];
#if WIDE
        VECTOR even[VECTORS], odd[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++)
        {
            const VECTOR u = LOAD(at + v * (int)sizeof(VECTOR));
            even[v] = EVEN(u), odd[v] = ODD(u);
        }
        UNROLL for (int r = 0; r < rows; r++)
        {
            const VECTOR first = SPREAD(panel[2 * r]), second = SPREAD(panel[2 * r + 1]);
            UNROLL for (int v = 0; v < VECTORS; v++) sum[r][v] = MADD(MADD(sum[r][v], even[v], first), odd[v], second);
        }
#else
        VECTOR u[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++) u[v] = LOAD(at + v * (int)sizeof(VECTOR));
        UNROLL for (int r = 0; r < rows; r++)
        {
            const VECTOR s = SPREAD(panel[r]);
            UNROLL for (int v = 0; v < VECTORS; v++) sum[r][v] = DOT(sum[r][v], u[v], s);
        }
#endif
    }
    UNROLL for (int r = 0; r < rows; r++) UNROLL for (int v = 0; v < VECTORS; v++)
        STORE(sums + (int64_t)(r * VECTORS + v) * (int64_t)(sizeof(VECTOR) / 4), sum[r][v]);
}

TARGET static void JOIN(tile_, SUFFIX)(const uint8_t *x, const int32_t *offset, int64_t depth, const int32_t *panel,
                                       int32_t *sums)
{
    BODY(ROWS, x, offset, depth, panel, sums);
}

TARGET static void JOIN(one_, SUFFIX)(const uint8_t *x, const int32_t *offset, int64_t depth, const int32_t *panel,
                                      int32_t *sums)
{
    BODY(1, x, offset, depth, panel, sums);
}

#undef JOIN_
#undef JOIN
#undef BODY
#undef VECTOR
#undef VECTORS
#undef ROWS
#undef SUFFIX
#undef TARGET
#undef LOAD
#undef STORE
#undef ZERO
#undef SPREAD
#undef WIDE
#undef EVEN
#undef ODD
#undef MADD
#undef DOT
