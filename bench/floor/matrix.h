/* Parts of matrices and their product, by the BLAS on the calling thread. */
#ifndef FLOOR_MATRIX_H
#define FLOOR_MATRIX_H

#include "vector.h"

#include <cblas.h>
#include <stdbool.h>

/* Element (i, j) is at[i * pitch + j]; with `turned` it is at[j * pitch + i].
 */
typedef struct matrix {
    float *at;
    int rows, columns, pitch;
    bool turned;
} matrix;

static inline matrix matrix_of(float *at, int rows, int columns) { return (matrix){at, rows, columns, columns, false}; }

static inline matrix turn(matrix a) { return (matrix){a.at, a.columns, a.rows, a.pitch, !a.turned}; }

/* Rows [from, to) of a matrix that is not turned. */
static inline matrix rows_of(matrix a, int from, int to)
{
    return (matrix){a.at + from * a.pitch, to - from, a.columns, a.pitch, false};
}

static inline matrix columns_of(matrix a, int from, int to)
{
    return (matrix){a.at + from, a.rows, to - from, a.pitch, false};
}

/* c = keep * c + scale * a b; keep is 0 or 1. */
static inline void multiply(matrix a, matrix b, float scale, float keep, matrix c)
{
    cblas_sgemm(CblasRowMajor, a.turned ? CblasTrans : CblasNoTrans, b.turned ? CblasTrans : CblasNoTrans, c.rows,
                c.columns, a.columns, scale, a.at, a.pitch, b.at, b.pitch, keep, c.at, c.pitch);
}

#endif
