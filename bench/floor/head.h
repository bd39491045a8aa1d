/* The last layer of the classifiers, 10 classes in rows of 16: too narrow for a
 * BLAS. B examples, K inputs. Row ranges [from, to) are multiples of 8. */
#ifndef FLOOR_HEAD_H
#define FLOOR_HEAD_H

#include <stdint.h>

enum { CLASSES = 10, HEAD = 16 };

typedef struct head_sums {
    double loss; /* of all rows so far, not divided */
    int correct;
} head_sums;

/* z = x w + b for rows of x [B, K], w [K, 16], b [16]; adds the cross-entropy
 * against labels [B] to *sums and writes dz [B, 16] = (softmax(z) - one_hot) /
 * B. With dz NULL it only classifies. */
void head_forward(const float *x, int k, const float *w, const float *b, const uint8_t *labels, float *dz, int from,
                  int to, int batch, head_sums *sums);

/* dx [B, K] = dz w^T for rows; scratch [10, K] is for w^T. */
void head_backward_x(const float *dz, const float *w, float *scratch, float *dx, int k, int from, int to);

/* Rows [from, to) of dw [K, 16] = x^T dz. */
void head_backward_w(const float *x, const float *dz, float *dw, int k, int from, int to, int batch);

/* sums[c] = sum of x[r, c] over `rows` rows, for columns [from, to), multiples
 * of 16. */
void column_sums(const float *x, int columns, int rows, float *sums, int from, int to);

#endif
