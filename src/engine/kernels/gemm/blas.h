/* A CBLAS found at run time. */
#ifndef MW__ENGINE_KERNELS_GEMM_BLAS_H
#define MW__ENGINE_KERNELS_GEMM_BLAS_H

#include <millwright/status.h>
#include <stdbool.h>

/* The CBLAS enumerations, which are ABI: row-major 101, no transpose 111, transpose 112. */
#define MW__BLAS_ROW_MAJOR    101
#define MW__BLAS_NO_TRANSPOSE 111
#define MW__BLAS_TRANSPOSE    112

typedef void mw__blas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                            const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

/* Sets which library it is, for the life of the process; later calls change nothing: a path or name, "none", or "" for
 * one of the system. MW_ERROR_ARGUMENT if the one that was named cannot be loaded or has no cblas_sgemm; loads it
 * otherwise. */
mw_status mw__blas_choose(const char *name, mw_error *err);

/* cblas_sgemm, or NULL when there is no BLAS. The first call loads it, for the life of the process: the library that
 * was named, else Accelerate on macOS, else OpenBLAS, BLIS or the system's
 * CBLAS. OpenBLAS is held to one thread, process-wide, because the engine's own team splits the work. Thread-safe. */
mw__blas_sgemm *mw__blas_find(void);

/* True if a library was named. */
bool mw__blas_is_named(void);

/* "libopenblas.so.0", or "built-in". Loads like mw__blas_find. */
const char *mw__blas_name(void);

/* True if the library runs its own threads (Accelerate): one large call is better than several small ones. */
bool mw__blas_splits(void);

/* True if the library runs its code for the oldest processors. OpenBLAS 0.3.21 does on an Emerald Rapids, at 30 GFLOP/s
 * where the tiles for AVX2 have 70 and more. */
bool mw__blas_is_lost(void);

#endif
