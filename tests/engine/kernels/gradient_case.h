/* Gradients that fusion patterns compute, a family of operations in each gradient_cases_<family>.c. To add a case: a
 * row there. test_pattern_kernels.c drives them. */
#ifndef TESTS_ENGINE_KERNELS_GRADIENT_CASE_H
#define TESTS_ENGINE_KERNELS_GRADIENT_CASE_H

#include <millwright/millwright.h>
#include <stddef.h>

typedef struct gradient_case {
    const char *what;
    mw_shape x, weight;       /* weight: the kernel of a pooling */
    int64_t stride[2];        /* 0 = 1 */
    int64_t dilation, groups; /* 0 = 1 */
    int64_t pad;              /* at both ends of each axis */
    bool relu;                /* before the pooling */
    bool overlaps;            /* windows share elements */
    bool unknown;             /* there is no kernel for it */
} gradient_case;

typedef struct gradient_family {
    const char *label;  /* of the pattern's step; after "relu." where there is one */
    const char *narrow; /* the same without strides, where vectors are narrow or channels few; NULL = as `label` */
    mw_tensor *(*forward)(const gradient_case *c, mw_tensor *x, mw_tensor *weight);
    bool weighted;  /* the weight is an input */
    bool by_weight; /* else the gradient is that by x */
    const gradient_case *rows;
    size_t count;
} gradient_family;

extern const gradient_family gradient_cases_conv, gradient_cases_conv_dx, gradient_cases_depthwise_dx,
    gradient_cases_wide_dx, gradient_cases_pool, gradient_cases_average;

#endif
