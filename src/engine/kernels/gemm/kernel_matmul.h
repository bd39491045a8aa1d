/* What the table of kernels asks of the products. */
#ifndef MW__ENGINE_KERNELS_GEMM_KERNEL_MATMUL_H
#define MW__ENGINE_KERNELS_GEMM_KERNEL_MATMUL_H

#include "engine/core/step.h"

/* True if the weight of the product stays as it is stored, and is a matrix: it is expanded in strips. */
bool mw__product_takes_packed(const mw__op *op);

/* Of a product on one partition, in ns. */
double mw__product_cost(double bytes, double flops);

/* A buffer with the transpose [k, n] of a matrix y [n, k] of fp32, copied once for all that ask for it. */
uint32_t mw__plan_turned_matrix(mw__planner *planner, const mw_tensor *y, int64_t n, int64_t k);

#endif
