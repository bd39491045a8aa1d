/* A CBLAS found at run time. */
#ifndef MW__ENGINE_KERNELS_BLAS_H
#define MW__ENGINE_KERNELS_BLAS_H

#include <millwright/status.h>
#include <stdbool.h>

/* The CBLAS enumerations, which are ABI: row-major 101, no transpose 111, transpose 112. */
#define MW__BLAS_ROW_MAJOR    101
#define MW__BLAS_NO_TRANSPOSE 111
#define MW__BLAS_TRANSPOSE    112

typedef void mw__blas_sgemm(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                            const float *a, int lda, const float *b, int ldb, float beta, float *c, int ldc);

/* cblas_sgemm, or NULL when there is no BLAS. The first call loads it, for the life of the process: the library that
 * the environment variable MW_BLAS names ("none": none), else Accelerate on macOS, else OpenBLAS, BLIS or the system's
 * CBLAS. OpenBLAS is held to one thread, process-wide, because the engine's own team splits the work. Thread-safe. */
mw__blas_sgemm *mw__blas_find(void);

/* True if MW_BLAS names a library; read once, for the life of the process. */
bool mw__blas_is_named(void);

/* MW_ERROR_ARGUMENT if MW_BLAS names what cannot be loaded or has no cblas_sgemm; loads it otherwise. */
mw_status mw__blas_check(mw_error *err);

/* "libopenblas.so.0", or "built-in". Loads like mw__blas_find. */
const char *mw__blas_name(void);

/* True if the library runs its own threads (Accelerate): one large call is better than several small ones. */
bool mw__blas_splits(void);

#endif
