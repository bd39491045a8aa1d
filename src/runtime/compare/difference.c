/* How two tensors differ, as numbers. */
#include "runtime/compare/compare.h"

#include "graph/ir/ir.h"

#include <math.h>

static bool agrees_exactly(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static double largest_of(const double *a, size_t count)
{
    double largest = 0.0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(a[i]) && fabs(a[i]) > largest)
            largest = fabs(a[i]);
    return largest;
}

static bool is_overflow(double a, double b)
{
    const double largest = 65504.0; /* of fp16 */
    return (isinf(a) && !isnan(b) && fabs(b) > largest && (a > 0) == (b > 0)) ||
           (isinf(b) && !isnan(a) && fabs(a) > largest && (a > 0) == (b > 0));
}

static void set_worst(mw_difference *d, size_t element, double a, double b)
{
    d->worst = element;
    d->a = a;
    d->b = b;
}

/* Both are finite. */
static void add_finite(mw_difference *d, size_t element, double a, double b)
{
    const double distance = fabs(a - b), size = fmax(fabs(a), fabs(b));
    d->mean_absolute += distance;
    d->beyond += distance > d->tolerance;
    if (distance > 0.0 && distance / size > d->max_relative)
        d->max_relative = distance / size;
    if (distance <= d->max_absolute)
        return;
    d->max_absolute = distance;
    if (d->not_finite == 0)
        set_worst(d, element, a, b);
}

mw_difference mw__difference(const double *a, const double *b, size_t count, bool exact, double relative,
                             double absolute)
{
    mw_difference d = {.compared = true, .count = count};
    size_t finite = 0;
    d.tolerance = exact ? 0.0 : absolute + relative * largest_of(a, count);
    if (count > 0)
        set_worst(&d, 0, a[0], b[0]);
    for (size_t i = 0; i < count; i++) {
        if (isfinite(a[i]) && isfinite(b[i])) {
            add_finite(&d, i, a[i], b[i]);
            finite++;
        } else if (!agrees_exactly(a[i], b[i])) {
            if (d.not_finite++ == 0)
                set_worst(&d, i, a[i], b[i]);
            d.overflowed += is_overflow(a[i], b[i]);
        }
    }
    d.beyond += d.not_finite;
    if (finite > 0)
        d.mean_absolute /= (double)finite;
    return d;
}

double *mw__compare_read(mw_program *program, const char *port, size_t *out_count, mw_error *err)
{
    const size_t index = mw__program_find(program, port);
    if (index >= program->port_count) {
        mw__fail(err, MW_ERROR_STATE, "the program shows no \"%s\"", port);
        return NULL;
    }
    *out_count = mw__program_elements(program, index);
    double *data = mw__alloc(program->allocator, *out_count, sizeof *data, err);
    if (data == NULL || mw_program_read(program, port, MW_F64, data, *out_count, err) == MW_OK)
        return data;
    mw__free(program->allocator, data);
    return NULL;
}

mw_status mw__difference_of_ports(mw_program *a, mw_program *b, const char *port, mw_dtype declared,
                                  const mw_compare_options *options, mw_difference *out, mw_error *err)
{
    size_t a_count = 0, b_count = 0;
    double *of_a = mw__compare_read(a, port, &a_count, err);
    double *of_b = of_a != NULL ? mw__compare_read(b, port, &b_count, err) : NULL;
    mw_status status = of_b != NULL ? MW_OK : mw__status_or(err, MW_ERROR_MEMORY);
    if (status == MW_OK && a_count != b_count)
        status = mw__fail(err, MW_ERROR_SHAPE, "\"%s\" has %zu elements on one side and %zu on the other", port,
                          a_count, b_count);
    if (status == MW_OK)
        *out = mw__difference(of_a, of_b, a_count, declared != MW_F16 && declared != MW_F32 && declared != MW_F64,
                              options->relative, options->absolute);
    mw__free(a->allocator, of_a);
    mw__free(b->allocator, of_b);
    return status;
}
