/* Drawing the first values of parameters. */
#ifndef MW__GRAPH_RANDOM_INIT_H
#define MW__GRAPH_RANDOM_INIT_H

#include <millwright/graph.h>

/* What an mw_init holds. */
typedef struct mw__init {
    int kind;
    float a, b;
    const void *data;
} mw__init;

mw__init mw__init_of(const mw_init *init);

/* Where the numbers of a parameter come from: the stream is chosen by `name` alone, so that adding a parameter does not
 * change the others. How many threads draw them (0: as many as there are processors) changes none. */
typedef struct mw__init_source {
    const char *name;
    uint64_t seed;
    int threads;
} mw__init_source;

/* Writes the elements of a parameter to `out`, dense and row-major; element i takes the i-th draw of its stream.
 *  shape   known extents
 *  dtype   MW_F32 or MW_F16 (drawn in fp32 and rounded once)
 *  errors  MW_ERROR_ARGUMENT for an initializer that no mw_init_* made or bad bounds, MW_ERROR_SHAPE, MW_ERROR_DTYPE */
mw_status mw__init_fill(const mw__init *init, mw_shape shape, mw_dtype dtype, const mw__init_source *source, void *out,
                        mw_error *err);

/* Each integer of [-bound, bound] equally likely. */
mw_init mw__init_integers(int bound);
bool mw__init_draws_integers(const mw__init *init);
/* Every element is 0, all bits of it. */
bool mw__init_is_zeros(const mw__init *init);

/* Refuses an initializer that no mw_init_* made, and bad numbers. */
mw_status mw__init_check(const mw__init *init, mw_error *err);

#endif
