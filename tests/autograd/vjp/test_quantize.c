/* Training that knows of quantization: the straight-through gradient against the formulas of PyTorch's fake_quantize
 * (torch/csrc and aten/src/ATen/native/quantized, 1.13), written out in double, on both devices. */
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { ROWS = 5, COLUMNS = 7, COUNT = ROWS * COLUMNS };

typedef struct setting {
    mw_dtype dtype;
    int axis; /* of a vector of scales; -1 = one scale */
    bool zero_points, learned;
} setting;

static const double scales[COLUMNS] = {0.5, 0.25, 1.0, 0.125, 2.0, 0.5, 0.25};
static const int8_t zeros[COLUMNS] = {3, 0, -7, 12, 1, -2, 100};

static int parts_of(const setting *s) { return s->axis < 0 ? 1 : s->axis == 0 ? ROWS : COLUMNS; }

static int part_at(const setting *s, int i) { return s->axis < 0 ? 0 : s->axis == 0 ? i / COLUMNS : i % COLUMNS; }

/* Some far outside of the range of any scale; none at a tie, where the device's rounding of x / scale might decide. */
static void fill(float *x, float *dy)
{
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)((i * 29) % COUNT - COUNT / 2) * (i % 6 == 0 ? 24.0f : 0.53125f);
        dy[i] = (float)((i * 11) % 13 - 6) / 4.0f;
    }
}

static double zero_at(const setting *s, int part)
{
    return !s->zero_points ? 0.0 : s->dtype == MW_I8 ? zeros[part] : (double)(uint8_t)zeros[part];
}

/* ---- the formulas ---- */

typedef struct truth {
    double y[COUNT], dx[COUNT], dscale[COLUMNS];
} truth;

static truth formulas(const setting *s, const float *x, const float *dy)
{
    truth t = {0};
    const double low = s->dtype == MW_I8 ? -128 : 0, high = s->dtype == MW_I8 ? 127 : 255;
    for (int i = 0; i < COUNT; i++) {
        const int part = part_at(s, i);
        const double scale = scales[part], zero = zero_at(s, part), q = nearbyint((double)x[i] / scale) + zero;
        const double kept = fmin(fmax(q, low), high);
        t.y[i] = (kept - zero) * scale;
        t.dx[i] = q >= low && q <= high ? (double)dy[i] : 0.0;
        t.dscale[part] += (double)dy[i] * (q < low    ? low - zero
                                           : q > high ? high - zero
                                                      : (t.y[i] - (double)x[i]) / scale);
    }
    return t;
}

/* ---- the graph ---- */

static mw_tensor *scale_of(mw_graph *graph, const setting *s)
{
    float values[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        values[i] = (float)scales[i];
    const mw_shape shape = s->axis < 0 ? mw_shape_scalar() : MW_SHAPE(parts_of(s));
    return s->learned ? mw_input(graph, "scale", MW_F32, shape) : mw_constant(graph, MW_F32, shape, values);
}

static mw_graph *build(const setting *s, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(ROWS, COLUMNS));
    mw_tensor *dy = mw_input(graph, "dy", MW_F32, MW_SHAPE(ROWS, COLUMNS)), *scale = scale_of(graph, s);
    const mw_shape shape = s->axis < 0 ? mw_shape_scalar() : MW_SHAPE(parts_of(s));
    mw_tensor *zero = s->zero_points ? mw_constant(graph, s->dtype, shape, zeros) : NULL;
    mw_tensor *y = mw_fake_quantize(x, scale, zero, s->axis < 0 ? 0 : s->axis, s->dtype);
    mw_tensor *of[] = {x, scale}, *slopes[2] = {NULL};
    mw_grad(mw_reduce_sum(mw_mul(y, dy), MW_ALL_AXES, false), of, 1 + s->learned, slopes, err);
    mw_output(mw_add(y, mw_scalar(graph, MW_F32, 0.0)), "y");
    mw_output(slopes[0], "dx");
    if (s->learned)
        mw_output(slopes[1], "dscale");
    mw_graph_check(graph, err);
    return graph;
}

static void compare(mw_program *program, const char *port, const double *wanted, size_t count, double tolerance)
{
    float got[COUNT];
    mw_error err = {0};
    mw_program_read(program, port, MW_F32, got, count, &err);
    CHECK_OK(err);
    for (size_t i = 0; i < count; i++)
        check_note(fabs((double)got[i] - wanted[i]) <= tolerance * fmax(1.0, fabs(wanted[i])), __FILE__, __LINE__,
                   "%s[%zu] is %g, not %g", port, i, (double)got[i], wanted[i]);
}

static void check_setting(const setting *s, mw_device device)
{
    mw_error err = {0};
    float x[COUNT], dy[COUNT], scale[COLUMNS];
    fill(x, dy);
    for (int i = 0; i < COLUMNS; i++)
        scale[i] = (float)scales[i];
    mw_graph *graph = build(s, &err);
    mw_program *program = engine_compile(graph, device, 0, &err);
    mw_program_write(program, "x", MW_F32, x, COUNT, &err);
    mw_program_write(program, "dy", MW_F32, dy, COUNT, &err);
    if (s->learned)
        mw_program_write(program, "scale", MW_F32, scale, (size_t)parts_of(s), &err);
    mw_program_run(program, &err);
    CHECK_OK(err);
    const truth t = formulas(s, x, dy);
    if (err.status == MW_OK) {
        compare(program, "y", t.y, COUNT, 0.0);
        compare(program, "dx", t.dx, COUNT, 0.0);
    }
    if (err.status == MW_OK && s->learned) /* sums of 35 terms up to 384; fp16 rounds each slope to 2^-11 of itself */
        compare(program, "dscale", t.dscale, (size_t)parts_of(s), device == MW_DEVICE_ANE ? 0x1p-7 : 0x1p-20);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

static void test_gradients_go_straight_through_where_nothing_saturates(void)
{
    for (int variant = 0; variant < 24; variant++) {
        const setting s = {.dtype = variant % 2 == 0 ? MW_I8 : MW_U8,
                           .axis = variant / 2 % 3 - 1,
                           .zero_points = variant / 6 % 2 == 1,
                           .learned = variant / 12 == 1};
        check_setting(&s, MW_DEVICE_CPU);
        check_setting(&s, MW_DEVICE_ANE);
    }
}

static void test_quantize_alone_has_no_gradient(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4)), *dx = NULL, *scale = mw_scalar(graph, MW_F32, 0.5);
    mw_tensor *y = mw_dequantize(mw_quantize(x, scale, NULL, 0, MW_I8), scale, NULL, 0);
    mw_grad(mw_reduce_sum(y, MW_ALL_AXES, false), &x, 1, &dx, &err);
    CHECK_OK(err);
    mw_output(dx, "dx");
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 0, &err);
    float values[4] = {1, 2, 3, 4};
    mw_program_write(program, "x", MW_F32, values, 4, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "dx", MW_F32, values, 4, &err);
    CHECK_OK(err);
    for (int i = 0; i < 4; i++)
        CHECK(values[i] == 0.0f);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

int main(void)
{
    setting_begin("MW_ENGINE_PROFILE",
                  "ieee"); /* the operation round takes halves to even, as MIL says; on a chip it does not */
    RUN(test_gradients_go_straight_through_where_nothing_saturates);
    RUN(test_quantize_alone_has_no_gradient);
    return check_finish();
}
