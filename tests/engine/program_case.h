/* A compiled graph, fed with random numbers, and its outputs: what tests share that compare two ways to compute. */
#ifndef TESTS_ENGINE_PROGRAM_CASE_H
#define TESTS_ENGINE_PROGRAM_CASE_H

#include <millwright/millwright.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRAM_OUTPUTS = 4 };

/* Stride and dilation of every axis, and groups, 0 for 1; custom padding of 0. */
mw_conv_options program_conv(int64_t stride, int64_t dilation, int64_t groups);

/* engine_compile with MW_ENGINE_FUSE=0. */
mw_program *program_compile_plain(const mw_graph *graph, mw_device device, int threads, mw_error *err);

/* Numbers in [-1, 1): with `steps` multiples of 1 / steps, few of which give ties and sums that are exact in any order.
 */
typedef struct program_numbers {
    uint64_t seed;
    float steps;
    bool nan; /* one of them, a third of the way in, is NaN */
} program_numbers;

/* As many as the shape has, to be freed; each stream has numbers of its own. NULL without memory. */
float *program_draw(const program_numbers *numbers, mw_shape shape, uint64_t stream);
void program_feed(mw_program *program, const char *input, const program_numbers *numbers, uint64_t stream,
                  mw_error *err);

typedef struct program_output {
    const char *name;
    mw_dtype dtype;
    size_t count, size; /* elements, bytes */
    char *data;
} program_output;

typedef struct program_outputs {
    program_output of[PROGRAM_OUTPUTS];
    int count;
} program_outputs;

/* Copies of the outputs of those names, which live as long as the result; what is missing has no data and sets `err`.
 */
program_outputs program_outputs_read(mw_program *program, const char *const *names, int count, mw_error *err);
void program_outputs_deinit(program_outputs *outputs);

/* Notes which of the first `count` outputs differ in a byte, or are missing. */
void program_outputs_compare(const program_outputs *a, const program_outputs *b, int count, const char *what);

#endif
