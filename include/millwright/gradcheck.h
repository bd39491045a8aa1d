/* Checking gradients by differences, on the device that will train.
 *
 *     mw_gradcheck_options options = mw_gradcheck_defaults(loss, &w, 1);
 *     options.batch = &batch;    // what the inputs are fed
 *     mw_gradcheck_report report;
 *     if (mw_gradcheck_run(&options, &report, &err) != MW_OK)
 *         puts(err.message);     // gradcheck: "fc1.weight" element 7: gradient 0.25, by differences 0.5 ...
 *
 * For a rule of one's own, a new operation, or a model that does not learn.
 *
 * Threads: a check uses the graph of y, so that calls on that graph come one at a time; different graphs may be checked
 * at the same time. */
#ifndef MILLWRIGHT_GRADCHECK_H
#define MILLWRIGHT_GRADCHECK_H

#include <millwright/dataset.h>
#include <millwright/program.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What to check, and how closely. Fill with mw_gradcheck_defaults. */
typedef struct mw_gradcheck_options {
    size_t struct_size;         /* set by mw_gradcheck_defaults */
    mw_tensor *y;               /* F32 or F16, any shape; unless it is a scalar, u y is checked for a random u */
    mw_tensor *const *x;        /* inputs and parameters of the graph of y, F32 or F16 */
    size_t count;               /* of x */
    const mw_batch *batch;      /* feeds of the inputs (mw_input); NULL when there are none */
    double step;                /* relative to max(|x|, 1/4); 0 = 2^-6 (2^-3 on devices with fp16 ports) */
    double tolerance;           /* relative, default 1e-3 (fp16 ports: 5e-2); rounding noise is added */
    size_t elements;            /* per tensor: tested one by one; all, or so many drawn; default 64 */
    size_t directions;          /* random directions in the space of all x; default 4; 0 = no directions at all */
    uint64_t seed;              /* of u, the elements and the directions */
    mw_compile_options compile; /* device and provider; parameters start from compile.seed. `share` is refused */
} mw_gradcheck_options;

/** Returns the default options for the derivative of y by x. */
MW_API mw_gradcheck_options mw_gradcheck_defaults(mw_tensor *y, mw_tensor *const *x, size_t count);

/** What was found. */
typedef struct mw_gradcheck_report {
    bool passed;
    size_t checked;  /* elements, tensors and directions that were compared */
    size_t skipped;  /* those of which differences say nothing: a kink or jump is next to the point */
    char tensor[96]; /* of the worst comparison (largest error / allowed); "" for a direction of all x */
    int64_t index;   /* its element, row-major; -1 for a direction */
    double analytic; /* derivative by the VJPs */
    double numeric;  /* derivative by differences */
    double error;    /* |analytic - numeric| */
    double allowed;  /* tolerance max(|analytic|, |numeric|) + noise */
} mw_gradcheck_report;

/** Compares the gradient of y, compiled for the device, with central differences of y on the same device. It compares
 *  single elements, the direction of each tensor's gradient (if directions > 0), and random directions. The derivative
 *  by differences is Richardson's (4 D(h/2) - D(h)) / 3, error O(h^4). h starts at the step and is halved up to four
 *  times until D(h) and D(h/2) agree (the idea is KANN's).
 *  The noise is the sum of two terms: 16 roundings of the elements of y that change, divided by h; and 2^-16 of the
 *  largest element of the gradient, for the roundings of the gradient itself. With fp16 ports, a rounding is 2^-11
 *  instead of fp32's 2^-24, and the second factor is 2^-5 instead of 2^-16.
 *
 *  If the two do not agree, a step may have crossed a kink (relu, abs, clip, maximum, max_pool, sorting, ..) or a jump.
 *  To find out, the check reads all comparisons and choices that the gradient is made of. It compares an element by the
 *  longest step that crosses no kink, down to 2^-10 of the step. It skips the element if there is no such step, or if
 *  roundings hide the derivative there. It follows a direction to both sides of x, and compares the change of y between
 *  two kinks with the integral of the gradient.
 *  options     x must be fed or be parameters; elements of one tensor cost up to 20 runs each, at kinks up to 90
 *  out_report  filled when the comparison was made, also when it failed; may be NULL
 *  return      MW_OK if every comparison passed
 *  errors      MW_ERROR_NUMERIC naming the worst element, or if nothing could be compared; MW_ERROR_ARGUMENT,
 *              MW_ERROR_DTYPE; those of mw_vjp, mw_program_create and of a batch that does not fit */
MW_API mw_status mw_gradcheck_run(const mw_gradcheck_options *options, mw_gradcheck_report *out_report, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif
