/* Compiling, drawing, feeding, comparing. */
#include "compiled.h"

#include "base/number/fp16.h"
#include "base/number/random.h"
#include "support/check.h"
#include "support/on_engine.h"

#include <math.h>
#include <stdlib.h>

enum { RUNS = 6 };

mw_program *compiled_for(const mw_graph *graph, mw_device device, mw_chip chip, const char *off, seen_passes *seen,
                         mw_error *err)
{
    mw_compile_options options = engine_options(device, 2);
    options.chip = chip;
    options.profile = device == MW_DEVICE_ANE ? "ieee" : NULL;
    options.passes = (mw_passes){.off = off, .report = seen_report, .report_user = seen, .texts = true};
    return mw_program_create(graph, &options, err);
}

/* ---- numbers ---- */

static float draw_one(const rewrite_draw *draw, mw__random *random, size_t i)
{
    if (draw->values != NULL)
        return draw->values[i];
    const uint64_t count = (uint64_t)lround((draw->high - draw->low) / draw->step) + 1;
    return (float)(draw->low + draw->step * (double)mw__random_below(random, count));
}

static void feed(const rewrite_case *c, const mw_port *port, uint64_t seed, mw_program *source, mw_program *made,
                 mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(port->shape);
    const rewrite_draw draw = rewrite_case_draw(c, port->name);
    mw__random random = {.seed = seed, .stream = (uint64_t)port->name[0]};
    float *numbers = malloc((count + 1) * sizeof *numbers);
    for (size_t i = 0; numbers != NULL && i < count; i++)
        numbers[i] = draw_one(&draw, &random, i);
    CHECK(numbers != NULL);
    mw_program_write(source, port->name, MW_F32, numbers, count, err);
    mw_program_write(made, port->name, MW_F32, numbers, count, err);
    free(numbers);
}

static void feed_both(const rewrite_case *c, uint64_t seed, mw_program *source, mw_program *made, mw_error *err)
{
    mw_port port;
    for (size_t i = 0; mw_program_port_at(source, i, &port); i++)
        if (!port.is_output)
            feed(c, &port, seed, source, made, err);
}

/* ---- results ---- */

static float *run_program(mw_program *program, size_t *out_count, mw_error *err)
{
    mw_port port = {0};
    for (size_t i = 0; mw_program_port_at(program, i, &port) && !port.is_output; i++)
        ;
    *out_count = (size_t)mw_shape_count(port.shape);
    float *results = malloc((*out_count + 1) * sizeof *results);
    mw_program_run(program, err);
    mw_program_read(program, "y", MW_F32, results, *out_count, err);
    return results;
}

static double tolerance_of(const compiled_bound *bound, const float *wanted, size_t count)
{
    double largest = 0;
    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)wanted[i]));
    return bound->units * bound->unit * largest;
}

static bool is_near(const compiled_bound *bound, double tolerance, float got, float wanted)
{
    const float rounded = bound->half ? mw__fp16_to_float(mw__fp16_from_float(wanted)) : wanted;
    return bound->units == 0 ? got == rounded : fabs((double)got - (double)wanted) <= tolerance;
}

static void compare(const char *what, const compiled_bound *bound, const float *got, const float *wanted, size_t count)
{
    const double tolerance = tolerance_of(bound, wanted, count);
    size_t bad = 0;
    while (bad < count && is_near(bound, tolerance, got[bad], wanted[bad]))
        bad++;
    check_note(bad == count, __FILE__, __LINE__, "%s: element %zu of %zu is %.9g, not %.9g (within %g)", what, bad,
               count, bad < count ? (double)got[bad] : 0.0, bad < count ? (double)wanted[bad] : 0.0, tolerance);
}

void compiled_compare(const rewrite_case *c, const char *what, mw_program *source, mw_program *made,
                      const compiled_bound *bound)
{
    const int failures = check_global.failures_here;
    for (uint64_t seed = 1; seed <= RUNS && check_global.failures_here == failures; seed++) {
        mw_error err = {0};
        size_t count = 0, other = 0;
        feed_both(c, seed, source, made, &err);
        float *wanted = run_program(source, &count, &err), *got = run_program(made, &other, &err);
        if (check_note(err.status == MW_OK && count == other, __FILE__, __LINE__, "%s: %s", what, err.message))
            compare(what, bound, got, wanted, count);
        free(wanted);
        free(got);
    }
}
