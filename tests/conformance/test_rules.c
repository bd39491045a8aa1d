/* Rules of MIL that recorded operator tests of coremltools taught, each by a program of its own with numbers of its own
 * against the formula, on the devices that it concerns. Where a rule has a place in coremltools' documentation or
 * tests, the comment before the test names it. */
#include "support/check.h"
#include "support/on_engine.h"

#include "graph/ir/ir.h"

#include <math.h>
#include <millwright/millwright.h>
#include <string.h>

#define ELEMENTS 128

/* A program of one function, literals in the new style. */
#define PROGRAM(opset, parameters, body, results)                                                                      \
    "program(1.3)\n[buildInfo = dict<string, string>({{\"coremlc-version\", \"1\"}})]\n{\n    func main<" opset        \
    ">(" parameters ") {\n" body "        } -> (" results ");\n}\n"

typedef struct feed {
    const char *port;
    mw_dtype dtype;
    const void *data;
    size_t count;
} feed;

/* What the ports of the results hold, one after the other. */
typedef struct run {
    mw_error err;
    float out[ELEMENTS];
    size_t count;
} run;

static void read_results(mw_program *program, run *r)
{
    mw_port port;
    for (size_t i = 0; mw_program_port_at(program, i, &port); i++) {
        const size_t count = (size_t)mw_shape_count(port.shape);
        if (!port.is_output || r->count + count > ELEMENTS)
            continue;
        mw_program_read(program, port.name, MW_F32, r->out + r->count, count, &r->err);
        r->count += count;
    }
}

static run run_text(const char *text, mw_device device, const feed *feeds, size_t feed_count)
{
    run r = {.count = 0};
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &r.err);
    mw_graph_verify(graph, &r.err);
    mw_program *program = engine_compile(graph, device, 0, &r.err);
    for (size_t i = 0; i < feed_count && program != NULL; i++)
        mw_program_write(program, feeds[i].port, feeds[i].dtype, feeds[i].data, feeds[i].count, &r.err);
    if (program != NULL && mw_program_run(program, &r.err) == MW_OK)
        read_results(program, &r);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return r;
}

static void check_results(const run *r, const double *wanted, size_t count, double tolerance)
{
    CHECK_OK(r->err);
    CHECK_INT(r->count, count);
    for (size_t i = 0; i < count && r->count == count; i++)
        CHECK_NEAR(r->out[i], wanted[i], tolerance * (1.0 + fabs(wanted[i])));
}

static const mw_device both[] = {MW_DEVICE_CPU, MW_DEVICE_ANE};
#define FEED(port_, dtype_, array)                                                                                     \
    {                                                                                                                  \
        port_, dtype_, array, sizeof(array) / sizeof(array)[0]                                                         \
    }
#define EXACTLY 0.0
#define HALF    0x1p-10 /* two roundings to fp16 */
#define SINGLE  1e-6

/* ---- images ---- */

/* coremltools tests test_resize_nearest_neighbor (DEFAULT: [a, b] becomes [a, b, b]); its TensorFlow frontend writes
 * this operation for half_pixel_centers: the element whose cell holds the center of the new one. */
static void test_resize_takes_the_element_under_the_center(void)
{
    static const char text[] =
        PROGRAM("ios17", "tensor<fp32, [1, 1, 2, 3]> x",
                "tensor<fp32, [1, 1, 5, 4]> y = resize(interpolation_mode = string(\"NEAREST_NEIGHBOR\"), resized_dims "
                "= uint32(2), sampling_mode = string(\"DEFAULT\"), shape = tensor<int32, [2]>([5, 4]), x = x);\n",
                "y");
    static const float x[] = {1, 2, 3, 4, 5, 6};
    const feed feeds[] = {FEED("x", MW_F32, x)};
    double wanted[20];
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 4; j++)
            wanted[i * 4 + j] = (double)x[(2 * i + 1) * 2 / 10 * 3 + (2 * j + 1) * 3 / 8];
    for (size_t d = 0; d < 2; d++) {
        const run r = run_text(text, both[d], feeds, 1);
        check_results(&r, wanted, 20, EXACTLY);
    }
}

/* Documentation of resize: an element 0 of shape is inferred from x. */
static void test_resize_copies_extents_for_zeros(void)
{
    static const char text[] =
        PROGRAM("ios17", "tensor<fp32, [1, 2, 3]> x",
                "tensor<fp32, [1, 2, 6]> y = resize(interpolation_mode = string(\"NEAREST_NEIGHBOR\"), resized_dims = "
                "uint32(2), sampling_mode = string(\"DEFAULT\"), shape = tensor<int32, [2]>([0, 6]), x = x);\n",
                "y");
    static const float x[] = {1, 2, 3, 4, 5, 6};
    const feed feeds[] = {FEED("x", MW_F32, x)};
    double wanted[12];
    for (int i = 0; i < 12; i++)
        wanted[i] = (double)x[i / 2];
    const run r = run_text(text, MW_DEVICE_CPU, feeds, 1);
    check_results(&r, wanted, 12, EXACTLY);
}

/* T of resize has int32 besides the float types. */
static void test_resize_takes_integers(void)
{
    static const char text[] =
        PROGRAM("ios17", "tensor<int32, [1, 1, 3]> x",
                "tensor<int32, [1, 1, 5]> y = resize(interpolation_mode = string(\"LINEAR\"), resized_dims = "
                "uint32(1), sampling_mode = string(\"STRICT_ALIGN_CORNERS\"), shape = tensor<int32, [1]>([5]), x = "
                "x);\n",
                "y");
    static const int32_t x[] = {3, -6, 1000};
    static const double wanted[] = {3, -1, -6, 497, 1000}; /* -1.5 and 497 between them */
    const feed feeds[] = {FEED("x", MW_I32, x)};
    for (size_t d = 0; d < 2; d++) {
        const run r = run_text(text, both[d], feeds, 1);
        check_results(&r, wanted, 5, EXACTLY);
    }
}

/* "resize op allows a use-case in dynamic tensor shapes": the engine takes the declared extents. */
static void test_resize_takes_a_computed_shape(void)
{
    static const char text[] =
        PROGRAM("ios17", "tensor<int32, [2]> s, tensor<fp32, [1, 2, 3]> x",
                "tensor<fp32, [1, 4, 6]> y = resize(interpolation_mode = string(\"NEAREST_NEIGHBOR\"), resized_dims = "
                "uint32(2), sampling_mode = string(\"DEFAULT\"), shape = s, x = x);\n",
                "y");
    static const float x[] = {1, 2, 3, 4, 5, 6};
    static const int32_t s[] = {4, 6};
    const feed feeds[] = {FEED("x", MW_F32, x), FEED("s", MW_I32, s)};
    double wanted[24];
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 6; j++)
            wanted[i * 6 + j] = (double)x[i / 2 * 3 + j / 2];
    const run r = run_text(text, MW_DEVICE_CPU, feeds, 2);
    check_results(&r, wanted, 24, EXACTLY);
}

/* coremltools test TestUpsampleNearestNeighborFractionalScales: 3 elements by 1.12 are the same 3; "the scale factor is
 * recomputed by the output size". */
static void test_upsample_recomputes_a_fractional_factor(void)
{
    static const char text[] =
        PROGRAM("ios15", "tensor<fp32, [1, 2, 5]> x",
                "tensor<fp32, [1, 5, 6]> y = upsample_nearest_neighbor(scale_factor_height = fp32(2.7), "
                "scale_factor_width = fp32(1.3), x = x);\n",
                "y");
    static const float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const feed feeds[] = {FEED("x", MW_F32, x)};
    double wanted[30];
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 6; j++)
            wanted[i * 6 + j] = (double)x[i * 2 / 5 * 5 + j * 5 / 6];
    for (size_t d = 0; d < 2; d++) {
        const run r = run_text(text, both[d], feeds, 1);
        check_results(&r, wanted, 30, EXACTLY);
    }
}

/* ---- integers ---- */

/* coremltools tests TestCropResize: roi_invert, normalized, UNALIGN_CORNERS. */
static void test_crop_resize_takes_normalized_corners_turned_over_for_the_whole_image(void)
{
    static const float x[] = {1, 3, 5, 9, 2, 4, 8, 6};
    static const double wanted[] = {2.5, 7.0};
    static const feed feeds[] = {FEED("x", MW_F32, x)};
    for (int k = 0; k < 2; k++) {
        const run r = run_text(
            PROGRAM(
                "ios17", "tensor<fp32, [1, 1, 2, 4]> x",
                "    tensor<fp32, [1, 4]> box = const()[name = string(\"box\"), val = tensor<fp32, [1, 4]>"
                "([[0x1.8p+0, 0x1p+0, 0x1p-1, 0x1p-2]])];\n"
                "    tensor<fp32, [1, 1, 1, 2]> y = crop_resize(boxes = box, x = x, target_height = int32(1), "
                "target_width = int32(2), normalized_coordinates = bool(true), spatial_scale = fp32(0x1p+0), "
                "box_coordinate_mode = string(\"CORNERS_HEIGHT_FIRST\"), sampling_mode = string(\"UNALIGN_CORNERS\"), "
                "pad_value = fp32(0x0p+0))[name = string(\"y\")];\n",
                "y"),
            both[k], feeds, 1);
        check_results(&r, wanted, 2, both[k] == MW_DEVICE_ANE ? HALF : SINGLE);
    }
}

/* coremltools test test_builder_real_div_both_ints: 5 / 2 is 2. On the ANE integers are fp16 numbers. */
static void test_integers_stay_whole_on_both_devices(void)
{
    static const char text[] =
        PROGRAM("ios15", "tensor<int32, [6]> x, tensor<int32, [6]> y",
                "tensor<int32, [6]> q = real_div(x = x, y = y);\n"
                "tensor<int32, [1]> m = reduce_mean(axes = tensor<int32, [1]>([0]), keep_dims = bool(true), x = x);\n"
                "tensor<int32, [1]> n = reduce_l2_norm(axes = tensor<int32, [1]>([0]), keep_dims = bool(true), x = "
                "y);\n",
                "q, m, n");
    static const int32_t x[] = {5, -5, 7, -7, 2047, 2}, y[] = {2, 2, -3, -3, 2048, 3};
    const feed feeds[] = {FEED("x", MW_I32, x), FEED("y", MW_I32, y)};
    double wanted[8], sum = 0.0, squares = 0.0;
    for (int i = 0; i < 6; i++) {
        wanted[i] = x[i] / y[i]; /* C's division of integers */
        sum += x[i];
        squares += (double)y[i] * y[i];
    }
    wanted[6] = trunc(sum / 6.0);
    wanted[7] = trunc(sqrt(squares));
    for (size_t d = 0; d < 2; d++) {
        const run r = run_text(text, both[d], feeds, 2);
        check_results(&r, wanted, 8, EXACTLY);
    }
}

/* What an operation of the table does with integers is the same on both devices, or a rule of the chip refuses it. The
 * numbers are small, so that fp16 holds every result. */
static void check_integers(const char *operation, const char *operands, const char *result)
{
    char text[600];
    static const int32_t x[] = {7, -5, 0, 3, -2, 9}, y[] = {2, -3, 4, -1, 5, 3};
    const feed feeds[] = {FEED("x", MW_I32, x), FEED("y", MW_I32, y)};
    snprintf(text, sizeof text,
             PROGRAM("ios17", "tensor<int32, [6]> x, tensor<int32, [6]> y",
                     "tensor<int32, [%s]> a = %s(%s);\n"
                     "tensor<int32, [6]> b = add(x = a, y = y);\n",
                     "b"),
             result, operation, operands);
    const run cpu = run_text(text, MW_DEVICE_CPU, feeds, 2), ane = run_text(text, MW_DEVICE_ANE, feeds, 2);
    check_note(cpu.err.status == MW_OK && cpu.count == 6, __FILE__, __LINE__, "%s on the CPU: %s", operation,
               cpu.err.message);
    if (ane.err.status == MW_ERROR_UNSUPPORTED && strstr(ane.err.message, "ANE") != NULL)
        return;
    for (size_t i = 0; i < 6; i++)
        check_note(ane.err.status == MW_OK && cpu.out[i] == ane.out[i], __FILE__, __LINE__,
                   "%s of integers, element %zu: %g on the CPU, %g on the ANE %s", operation, i, (double)cpu.out[i],
                   (double)ane.out[i], ane.err.message);
}

static bool takes_numbers(const mw__row *row, const char *first, const char *second, const char *other)
{
    size_t found = 0;
    for (size_t i = 0; i < row->arg_count; i++) {
        const char *name = row->args[i].name;
        if (strcmp(name, first) == 0 || strcmp(name, second) == 0)
            found += row->args[i].type == MW__T_NUMBER;
        else if (strcmp(name, other) != 0 && row->args[i].fallback == MW__REQUIRED)
            return false;
    }
    return found == 1 + (size_t)(strcmp(first, second) != 0);
}

static void test_integer_operations_give_the_same_on_both_devices(void)
{
    int seen = 0;
    for (size_t i = 0; i < MW__OP_COUNT; i++) {
        const mw__row *row = &mw__rows[i];
        const bool reduces = strncmp(row->name, "reduce_", 7) == 0, picks = strncmp(row->name, "reduce_arg", 10) == 0;
        const bool decides = strstr(row->name, "equal") != NULL || strcmp(row->name, "less") == 0 ||
                             strcmp(row->name, "greater") == 0; /* to bool */
        if (decides || picks || row != mw__row_find(row->name, MW_IOS17, NULL))
            continue;
        if (reduces && takes_numbers(row, "x", "x", "axes"))
            check_integers(row->name, "keep_dims = bool(true), axes = tensor<int32, [1]>([0]), x = x", "1"), seen++;
        else if (takes_numbers(row, "x", "y", ""))
            check_integers(row->name, "x = x, y = y", "6"), seen++;
        else if (row->arg_count == 1 && takes_numbers(row, "x", "x", ""))
            check_integers(row->name, "x = x", "6"), seen++;
    }
    CHECK(seen >= 20);
}

#define GATHERS(opset, type)                                                                                           \
    PROGRAM(opset, "tensor<" type ", [2, 2]> i, tensor<fp32, [3, 2]> x",                                               \
            "tensor<fp32, [2, 2, 2]> a = gather(axis = int32(0), indices = i, x = x);\n"                               \
            "tensor<fp32, [2, 2]> b = gather_along_axis(axis = int32(0), indices = i, x = x);\n"                       \
            "tensor<fp32, [2]> c = gather_nd(indices = i, x = x);\n",                                                  \
            "a, b, c")

/* Type domain I of the gathers of iOS16: int32, uint16, int16. */
static void test_gathers_of_ios16_take_indices_of_16_bits(void)
{
    static const float x[] = {1, 2, 3, 4, 5, 6};
    static const int16_t shorts[] = {2, 0, 1, 1};
    static const uint16_t words[] = {2, 0, 1, 1};
    static const int8_t bytes[] = {2, 0, 1, 1};
    static const double wanted[] = {5, 6, 1, 2, 3, 4, 3, 4, 5, 2, 3, 4, 5, 4};
    const feed of_shorts[] = {FEED("x", MW_F32, x), FEED("i", MW_I16, shorts)};
    const feed of_words[] = {FEED("x", MW_F32, x), FEED("i", MW_U16, words)};
    const feed of_bytes[] = {FEED("x", MW_F32, x), FEED("i", MW_I8, bytes)};
    run r = run_text(GATHERS("ios16", "int16"), MW_DEVICE_CPU, of_shorts, 2);
    check_results(&r, wanted, 14, EXACTLY);
    r = run_text(GATHERS("ios16", "uint16"), MW_DEVICE_CPU, of_words, 2);
    check_results(&r, wanted, 14, EXACTLY);
    r = run_text(GATHERS("ios16", "int8"), MW_DEVICE_CPU, of_bytes, 2);
    CHECK_ERROR(r.err, MW_ERROR_DTYPE, "indices is int8, not int32 (the others need ios17)");
    r = run_text("program(1.3)\n[buildInfo = dict<string, string>({})]\n{\n    func main<ios15>(tensor<int16, [2]> i, "
                 "tensor<fp32, [3]> x) {\ntensor<fp32, [2]> y = gather(axis = int32(0), indices = i, x = x);\n} -> "
                 "(y);\n}\n",
                 MW_DEVICE_CPU, of_shorts, 2);
    CHECK_ERROR(r.err, MW_ERROR_DTYPE, "indices is int16, not int32 (int16 and uint16 need ios16)");
}

/* Type domains of topk of iOS17; "Set to -1 to select all elements". */
static void test_topk_takes_small_integers(void)
{
    static const char text[] =
        PROGRAM("ios17", "tensor<uint8, [5]> x, tensor<int16, [3]> y",
                "tensor<uint8, [2]> a, tensor<int32, [2]> b = topk(ascending = bool(false), axis = int32(0), k = "
                "int8(2), output_indices_dtype = string(\"int32\"), return_indices = bool(true), sort = bool(true), x "
                "= x);\n"
                "tensor<int16, [3]> c, tensor<uint16, [3]> d = topk(ascending = bool(true), axis = int32(0), k = "
                "int16(-1), output_indices_dtype = string(\"uint16\"), return_indices = bool(true), sort = bool(true), "
                "x = y);\n",
                "a, b, c, d");
    static const uint8_t x[] = {3, 200, 7, 250, 1};
    static const int16_t y[] = {5, -300, 4};
    static const double wanted[] = {250, 200, 3, 1, -300, 4, 5, 1, 2, 0};
    const feed feeds[] = {FEED("x", MW_U8, x), FEED("y", MW_I16, y)};
    const run r = run_text(text, MW_DEVICE_CPU, feeds, 2);
    check_results(&r, wanted, 10, EXACTLY);
}

/* Type domain U of slice_by_index, slice_by_size, slice_update and reverse_sequence of iOS17: int8, int16, int32. */
static void test_parts_begin_at_small_integers(void)
{
    static const char text[] =
        PROGRAM("ios18",
                "tensor<int8, [2]> b, tensor<int8, [2]> e, tensor<int16, [2]> s, tensor<int8, [3]> n, "
                "tensor<fp32, [3, 4]> x",
                "tensor<fp32, [2, 2]> p = slice_by_index(begin = b, end = e, stride = tensor<int8, [2]>([1, 1]), x = "
                "x);\n"
                "tensor<fp32, [1, 3]> q = slice_by_size(begin = s, size = tensor<int16, [2]>([1, 3]), x = x);\n"
                "tensor<fp32, [3, 4]> u = slice_update(begin = b, end = e, update = p, x = x);\n"
                "tensor<fp32, [3, 4]> v = reverse_sequence(batch_axis = int32(0), lengths = n, seq_axis = int32(1), x "
                "= x);\n",
                "p, q, u, v");
    static const float x[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    static const int8_t b[] = {1, -3}, e[] = {3, -1}, n[] = {4, 0, 2};
    static const int16_t s[] = {2, 1};
    static const double wanted[] = {5, 6,  9,  10, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6,  7, 8,
                                    9, 10, 11, 3,  2, 1,  0,  4, 5, 6, 7, 9, 8, 10, 11};
    const feed feeds[] = {FEED("x", MW_F32, x), FEED("b", MW_I8, b), FEED("e", MW_I8, e), FEED("s", MW_I16, s),
                          FEED("n", MW_I8, n)};
    const run r = run_text(text, MW_DEVICE_CPU, feeds, 5);
    check_results(&r, wanted, 31, EXACTLY);
}

/* On the ANE an integer that is fed is an fp16 port, which cannot say where or how many: a slice is a product, extents
 * are those declared, and what has no such form names the rule of the chip. */
static void test_the_chip_has_forms_for_fed_positions(void)
{
    static const char text[] =
        PROGRAM("ios17", "tensor<int32, [1]> b, tensor<int32, [1]> r, tensor<fp32, [4]> x",
                "tensor<fp32, [2]> y = slice_by_size(begin = b, size = tensor<int32, [1]>([2]), x = x);\n"
                "tensor<fp32, [8]> z = tile(reps = r, x = x);\n"
                "tensor<fp32, [2]> w = fill(shape = r, value = fp32(1));\n",
                "y, z, w");
    static const int32_t b[] = {1}, r[] = {2};
    static const float x[] = {1, 2, 3, 4};
    static const double wanted[] = {2, 3, 1, 2, 3, 4, 1, 2, 3, 4, 1, 1};
    const feed feeds[] = {FEED("b", MW_I32, b), FEED("r", MW_I32, r), FEED("x", MW_F32, x)};
    const run done = run_text(text, MW_DEVICE_ANE, feeds, 3);
    check_results(&done, wanted, 12, EXACTLY);
}

static void test_the_chip_names_its_rule_for_fed_amounts(void)
{
    const run r = run_text(PROGRAM("ios17", "tensor<int32, [2]> b, tensor<fp32, [4]> x",
                                   "tensor<fp32, [6]> y = pad(constant_val = fp32(0), mode = string(\"constant\"), pad "
                                   "= b, x = x);\n",
                                   "y"),
                           MW_DEVICE_ANE, NULL, 0);
    CHECK_ERROR(r.err, MW_ERROR_UNSUPPORTED, "integer inputs are fp16 ports on the ANE");
}

/* What non_zero finds has as many rows as are declared: those left over are 0, others are left out. */
static void test_non_zero_gives_the_rows_that_are_declared(void)
{
    static const char text[] = PROGRAM("ios17", "tensor<fp32, [2, 3]> x, tensor<bool, [3]> t",
                                       "tensor<int32, [3, 2]> y = non_zero(x = x);\n"
                                       "tensor<int32, [2, 2]> z = non_zero(x = x);\n"
                                       "tensor<int32, [4, 2]> w = non_zero(x = x);\n"
                                       "tensor<int32, [1, 1]> v = non_zero(x = t);\n",
                                       "y, z, w, v");
    static const float x[] = {0, 2, -0.0F, NAN, 0, -0.5F};
    static const uint8_t t[] = {0, 0, 1};
    static const double wanted[] = {0, 1, 1, 0, 1, 2, 0, 1, 1, 0, 0, 1, 1, 0, 1, 2, 0, 0, 2};
    const feed feeds[] = {FEED("x", MW_F32, x), FEED("t", MW_BOOL, t)};
    for (int i = 0; i < 2; i++) {
        const run r = run_text(text, i == 0 ? MW_DEVICE_CPU : MW_DEVICE_ANE, feeds, 2);
        check_results(&r, wanted, 19, EXACTLY);
    }
}

/* ---- shapes ---- */

/* Documentation of reshape of iOS17: x [2, 50] by [1, 0, -1, 0] is [1, 1, 2, 50]. */
static void test_reshape_counts_zeros_from_the_last_axis(void)
{
    static const char text[] =
        PROGRAM("ios17", "tensor<fp32, [2, 3]> x",
                "tensor<fp32, [1, 1, 2, 3]> y = reshape(shape = tensor<int32, [4]>([1, 0, -1, 0]), x = x);\n"
                "tensor<fp32, [2, 3]> z = reshape(shape = tensor<int32, [2]>([-1, 0]), x = y);\n",
                "y, z");
    static const float x[] = {1, 2, 3, 4, 5, 6};
    static const double wanted[] = {1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6};
    const feed feeds[] = {FEED("x", MW_F32, x)};
    for (size_t d = 0; d < 2; d++) {
        const run r = run_text(text, both[d], feeds, 1);
        check_results(&r, wanted, 12, EXACTLY);
    }
    const run r =
        run_text(PROGRAM("ios16", "tensor<fp32, [2, 3]> x",
                         "tensor<fp32, [1, 2, 3]> y = reshape(shape = tensor<int32, [3]>([1, -1, 0]), x = x);\n", "y"),
                 MW_DEVICE_CPU, feeds, 1);
    CHECK_ERROR(r.err, MW_ERROR_SHAPE, "copies an extent, but rank 3 where x has rank 2");
}

/* Type inference of concat: scalars make a vector, whatever the axis. */
static void test_concat_makes_a_vector_of_scalars(void)
{
    static const char text[] = PROGRAM("ios15", "tensor<fp32, []> a, tensor<fp32, []> b",
                                       "tensor<fp32, []> c = mul(x = a, y = b);\n"
                                       "tensor<fp32, [3]> y = concat(axis = int32(0), interleave = bool(false), "
                                       "values = (a, c, b));\n",
                                       "y");
    static const float a[] = {3}, b[] = {-2};
    static const double wanted[] = {3, -6, -2};
    const feed feeds[] = {FEED("a", MW_F32, a), FEED("b", MW_F32, b)};
    for (size_t d = 0; d < 2; d++) {
        const run r = run_text(text, both[d], feeds, 2);
        check_results(&r, wanted, 3, EXACTLY);
    }
}

/* reps of tile "is a 1-D tensor", not a constant: the engine takes the declared extents. */
static void test_tile_repeats_by_a_fed_vector(void)
{
    static const char text[] = PROGRAM("ios15", "tensor<int32, [2]> r, tensor<fp32, [1, 2]> x",
                                       "tensor<fp32, [2, 6]> y = tile(reps = r, x = x);\n", "y");
    static const float x[] = {1, 2};
    static const int32_t times[] = {2, 3};
    const feed feeds[] = {FEED("x", MW_F32, x), FEED("r", MW_I32, times)};
    double wanted[12];
    for (int i = 0; i < 12; i++)
        wanted[i] = 1 + i % 2;
    const run r = run_text(text, MW_DEVICE_CPU, feeds, 2);
    check_results(&r, wanted, 12, EXACTLY);
}

/* Documentation of random_uniform: "When high == low, values of low will be returned." */
static void test_random_uniform_of_equal_limits_is_that_number(void)
{
    static const char text[] =
        PROGRAM("ios15", "tensor<fp32, [3]> x",
                "tensor<fp32, [3]> r = random_uniform(high = fp32(-1.5), low = fp32(-1.5), seed = int32(7), shape = "
                "tensor<int32, [1]>([3]));\n"
                "tensor<fp32, [3]> y = add(x = r, y = x);\n",
                "y");
    static const float x[] = {0, 1, 2};
    static const double wanted[] = {-1.5, -0.5, 0.5};
    const feed feeds[] = {FEED("x", MW_F32, x)};
    const run r = run_text(text, MW_DEVICE_CPU, feeds, 1);
    check_results(&r, wanted, 3, EXACTLY);
}

/* ---- types that differ ---- */

/* Type domains T and U of conv of iOS17: "weight and bias may have a different dtype than the input/output". */
static void test_conv_takes_a_weight_of_another_type(void)
{
    static const char *const texts[] = {
        PROGRAM("ios17", "tensor<fp16, [1, 1, 4]> x",
                "tensor<fp16, [1, 2, 3]> y = conv(bias = tensor<fp32, [2]>([0.5, -1]), dilations = tensor<int32, "
                "[1]>([1]), groups = int32(1), pad = tensor<int32, [2]>([0, 0]), pad_type = string(\"valid\"), strides "
                "= tensor<int32, [1]>([1]), weight = tensor<fp32, [2, 1, 2]>([[[1.5, -2]], [[0.25, 3]]]), x = x);\n",
                "y"),
        PROGRAM("ios17", "tensor<fp32, [1, 1, 4]> x",
                "tensor<fp32, [1, 2, 3]> y = conv(bias = tensor<fp16, [2]>([0.5, -1]), dilations = tensor<int32, "
                "[1]>([1]), groups = int32(1), pad = tensor<int32, [2]>([0, 0]), pad_type = string(\"valid\"), strides "
                "= tensor<int32, [1]>([1]), weight = tensor<fp16, [2, 1, 2]>([[[1.5, -2]], [[0.25, 3]]]), x = x);\n",
                "y"),
    };
    static const float x[] = {1, -2, 3.5f, 0.125f};
    static const double w[2][2] = {{1.5, -2}, {0.25, 3}}, bias[2] = {0.5, -1};
    const feed feeds[] = {FEED("x", MW_F32, x)};
    double wanted[6];
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < 3; i++)
            wanted[c * 3 + i] = bias[c] + w[c][0] * (double)x[i] + w[c][1] * (double)x[i + 1];
    for (size_t t = 0; t < 2; t++)
        for (size_t d = 0; d < 2; d++) {
            const run r = run_text(texts[t], both[d], feeds, 1);
            check_results(&r, wanted, 6, t == 0 || d == 1 ? HALF : SINGLE);
        }
    const run r = run_text(
        PROGRAM("ios16", "tensor<fp16, [1, 1, 2]> x, tensor<fp32, [1, 1, 1]> w",
                "tensor<fp16, [1, 1, 2]> y = conv(dilations = tensor<int32, [1]>([1]), groups = int32(1), pad = "
                "tensor<int32, [2]>([0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [1]>([1]), "
                "weight = w, x = x);\n",
                "y"),
        MW_DEVICE_CPU, NULL, 0);
    CHECK_ERROR(r.err, MW_ERROR_DTYPE, "weight is fp32 but x is fp16");
}

/* y[o s + k] += x[o] w[k] */
static void test_conv_transpose_takes_a_weight_of_another_type(void)
{
    static const char text[] =
        PROGRAM("ios17", "tensor<fp32, [1, 1, 3]> x",
                "tensor<fp32, [1, 1, 6]> y = conv_transpose(dilations = tensor<int32, [1]>([1]), groups = int32(1), "
                "pad = tensor<int32, [2]>([0, 0]), pad_type = string(\"valid\"), strides = tensor<int32, [1]>([2]), "
                "weight = tensor<fp16, [1, 1, 2]>([[[1.5, -2]]]), x = x);\n",
                "y");
    static const float x[] = {1, -2, 3.5f};
    const feed feeds[] = {FEED("x", MW_F32, x)};
    double wanted[6];
    for (int i = 0; i < 6; i++)
        wanted[i] = (double)x[i / 2] * (i % 2 == 0 ? 1.5 : -2.0);
    for (size_t d = 0; d < 2; d++) {
        const run r = run_text(text, both[d], feeds, 1);
        check_results(&r, wanted, 6, d == 0 ? SINGLE : HALF);
    }
}

#define LINEAR(x, constant)                                                                                            \
    PROGRAM("ios17", "tensor<" x ", [2, 2]> x",                                                                        \
            "tensor<" x ", [2, 3]> y = linear(bias = tensor<" constant ", [3]>([1, 0, -4]), weight = tensor<" constant \
            ", [3, 2]>([[8, 3], [5, 0], [-9, 1]]), x = x);\n"                                                          \
            "tensor<" x                                                                                                \
            ", [2, 3]> z = matmul(transpose_x = bool(false), transpose_y = bool(true), x = x, y = tensor<" constant    \
            ", [3, 2]>([[8, 3], [5, 0], [-9, 1]]));\n",                                                                \
            "y, z")

/* Type domains of linear and matmul of iOS17; "the output dtype should be the same as the non-const one". */
static void test_linear_and_matmul_take_constants_of_another_type(void)
{
    static const char *const texts[] = {LINEAR("fp16", "fp32"),  LINEAR("fp32", "fp16"),  LINEAR("fp16", "int32"),
                                        LINEAR("fp32", "int32"), LINEAR("int32", "fp32"), LINEAR("int32", "fp16")};
    static const float x[] = {1, -2, 3, 7};
    static const double w[3][2] = {{8, 3}, {5, 0}, {-9, 1}}, bias[3] = {1, 0, -4};
    const feed feeds[] = {FEED("x", MW_F32, x)};
    double wanted[12];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++) {
            const double product = (double)x[2 * i] * w[j][0] + (double)x[2 * i + 1] * w[j][1];
            wanted[i * 3 + j] = product + bias[j];
            wanted[6 + i * 3 + j] = product;
        }
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++)
        for (size_t d = 0; d < 2; d++) {
            const run r = run_text(texts[t], both[d], feeds, 1);
            check_results(&r, wanted, 12, EXACTLY); /* small integers */
        }
    const run r = run_text(PROGRAM("ios17", "tensor<fp16, [2, 2]> x, tensor<fp32, [2, 2]> y",
                                   "tensor<fp16, [2, 2]> z = matmul(transpose_x = bool(false), transpose_y = "
                                   "bool(false), x = x, y = y);\n",
                                   "z"),
                           MW_DEVICE_CPU, NULL, 0);
    CHECK_ERROR(r.err, MW_ERROR_DTYPE, "x is fp16 but y is fp32; convert one with cast");
}

/* An integer result of a product with fractions loses what is behind the point. */
static void test_an_integer_product_is_whole_on_both_devices(void)
{
    static const char text[] =
        PROGRAM("ios17", "tensor<int32, [1, 2]> x",
                "tensor<int32, [1, 2]> y = matmul(transpose_x = bool(false), transpose_y = bool(false), x = x, y = "
                "tensor<fp32, [2, 2]>([[0.75, -0.75], [1, 0]]));\n",
                "y");
    static const int32_t x[] = {5, 3};
    static const double wanted[] = {6, -3}; /* of 6.75 and -3.75 */
    const feed feeds[] = {FEED("x", MW_I32, x)};
    for (size_t d = 0; d < 2; d++) {
        const run r = run_text(text, both[d], feeds, 1);
        check_results(&r, wanted, 2, EXACTLY);
    }
}

/* M of scaled_dot_product_attention is bool, fp16 or fp32, whatever T is. With one key the weight is 1; a mask of -inf
 * on the other of two keys does the same. */
static void test_attention_takes_a_mask_of_the_other_float_type(void)
{
    static const char text[] =
        PROGRAM("ios18", "tensor<fp32, [1, 1, 2]> m, tensor<fp16, [1, 2, 2]> q",
                "tensor<fp16, [1, 2, 2]> y = scaled_dot_product_attention(attn_mask = m, key = q, query = q, value = "
                "q);\n",
                "y");
    static const float q[] = {1, 2, 3, -4}, m[] = {0, -INFINITY};
    static const double wanted[] = {1, 2, 1, 2};
    const feed feeds[] = {FEED("q", MW_F32, q), FEED("m", MW_F32, m)};
    const run r = run_text(text, MW_DEVICE_CPU, feeds, 2);
    check_results(&r, wanted, 4, HALF);
}

/* What compiling can write otherwise, verifying lets pass. */
static void test_linear_with_a_fed_weight_verifies(void)
{
    static const char text[] =
        PROGRAM("ios15", "tensor<fp32, [2, 2]> w, tensor<fp32, [1, 2]> x",
                "tensor<fp32, [1, 2]> y = linear(bias = tensor<fp32, [2]>([10, 20]), weight = w, "
                "x = x);\n",
                "y");
    static const float w[] = {1, 2, 3, 4}, x[] = {5, -1};
    static const double wanted[] = {13, 31};
    const feed feeds[] = {FEED("x", MW_F32, x), FEED("w", MW_F32, w)};
    for (size_t d = 0; d < 2; d++) {
        const run r = run_text(text, both[d], feeds, 2);
        check_results(&r, wanted, 2, EXACTLY);
    }
}

/* ---- gradients ---- */

/* z = x W^T with x fp32 and W fp16: dx = dz W, in x's type. */
static void test_gradient_passes_types_that_differ(void)
{
    static const char text[] =
        PROGRAM("ios17", "tensor<fp32, [1, 2]> x",
                "tensor<fp32, [1, 2]> y = linear(bias = tensor<fp16, [2]>([1, 2]), weight = tensor<fp16, [2, "
                "2]>([[1.5, 2], [-3, 0.25]]), x = x);\n"
                "tensor<fp32, []> s = reduce_sum(keep_dims = bool(false), x = y);\n",
                "s");
    static const float x[] = {5, -1};
    mw_error err = {0};
    mw_graph *graph = mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err);
    REQUIRE(graph != NULL);
    mw_tensor *loss = mw_graph_find(graph, "s"), *in = mw_graph_find(graph, "x"), *dx = NULL;
    CHECK_INT(mw_grad(loss, &in, 1, &dx, &err), MW_OK);
    mw_output(dx, "dx");
    mw_program *program = dx != NULL ? mw_program_create(graph, NULL, &err) : NULL;
    float got[2] = {0};
    mw_program_write(program, "x", MW_F32, x, 2, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "dx", MW_F32, got, 2, &err);
    CHECK_OK(err);
    CHECK_NEAR(got[0], 1.5 - 3.0, 1e-6);
    CHECK_NEAR(got[1], 2.0 + 0.25, 1e-6);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* Compiles `count` gradients as outputs d0, d1, .. for the CPU, feeds, runs and reads them one after the other. */
static run run_gradients(mw_graph *graph, mw_tensor *loss, mw_tensor *const *x, size_t count, const feed *feeds,
                         size_t feed_count)
{
    run r = {.count = 0};
    mw_tensor *dx[4] = {NULL};
    char name[24];
    mw_grad(loss, x, count, dx, &r.err);
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "d%zu", i);
        mw_output(dx[i], name);
    }
    mw_program *program = engine_compile(graph, MW_DEVICE_CPU, 0, &r.err);
    for (size_t i = 0; i < feed_count && program != NULL; i++)
        mw_program_write(program, feeds[i].port, feeds[i].dtype, feeds[i].data, feeds[i].count, &r.err);
    if (program != NULL && mw_program_run(program, &r.err) == MW_OK)
        read_results(program, &r);
    mw_program_destroy(program);
    return r;
}

/* The gradient of sum(c^2) with c = [a, b, a] is [4 a, 2 b]. */
static void test_gradient_of_joined_scalars(void)
{
    static const float a[] = {3}, b[] = {-2};
    static const double wanted[] = {12, -4};
    const feed feeds[] = {FEED("a", MW_F32, a), FEED("b", MW_F32, b)};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x[2] = {mw_input(graph, "a", MW_F32, mw_shape_scalar()),
                       mw_input(graph, "b", MW_F32, mw_shape_scalar())};
    mw_tensor *const values[] = {x[0], x[1], x[0]};
    mw_tensor *loss = mw_reduce_sum(mw_square(mw_concat(values, 3, 0)), MW_ALL_AXES, false);
    const run r = run_gradients(graph, loss, x, 2, feeds, 2);
    check_results(&r, wanted, 2, EXACTLY);
    mw_graph_destroy(graph);
}

/* y[i] = x[i] w[0] + x[i + 1] w[1], summed: dw[k] is the sum of x[k] to x[k + 2], dx[i] that of the weights over it. */
static void test_gradient_of_conv_passes_types_that_differ(void)
{
    static const float x[] = {1, -2, 3.5f, 0.125f}, w[] = {1.5f, -2};
    static const double wanted[] = {1.5, -0.5, -0.5, -2, 2.5, 1.625};
    const feed feeds[] = {FEED("x", MW_F32, x), FEED("w", MW_F32, w)};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *in[2] = {mw_input(graph, "x", MW_F32, MW_SHAPE(1, 1, 4)),
                        mw_input(graph, "w", MW_F16, MW_SHAPE(1, 1, 2))};
    mw_tensor *loss = mw_reduce_sum(mw_conv(in[0], in[1], NULL, NULL), MW_ALL_AXES, false);
    const run r = run_gradients(graph, loss, in, 2, feeds, 2);
    check_results(&r, wanted, 6, EXACTLY); /* fp16 holds them */
    mw_graph_destroy(graph);
}

/* A mask of fp16 beside a query of fp32 gets the cotangent that one of fp32 gets, in its own type. */
static void test_gradient_of_a_mask_of_the_other_type(void)
{
    static const float q[] = {1, 0.5f, -1, 2}, m[] = {0.25f, -0.5f, 1, 0};
    const feed feeds[] = {FEED("q", MW_F32, q), FEED("m", MW_F32, m)};
    run r[2];
    for (int i = 0; i < 2; i++) {
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *query = mw_input(graph, "q", MW_F32, MW_SHAPE(1, 2, 2));
        mw_tensor *mask = mw_input(graph, "m", i == 0 ? MW_F32 : MW_F16, MW_SHAPE(2, 2));
        mw_tensor *y = mw_scaled_dot_product_attention(query, query, query, mask);
        mw_tensor *loss = mw_reduce_sum(mw_square(y), MW_ALL_AXES, false);
        r[i] = run_gradients(graph, loss, &mask, 1, feeds, 2);
        CHECK_OK(r[i].err);
        mw_graph_destroy(graph);
    }
    CHECK_INT(r[1].count, 4);
    for (int k = 0; k < 4; k++) {
        CHECK(fabsf(r[0].out[k]) > 0.01f);
        CHECK_NEAR(r[1].out[k], r[0].out[k], fabs((double)r[0].out[k]) * HALF);
    }
}

int main(void)
{
    RUN(test_resize_takes_the_element_under_the_center);
    RUN(test_resize_copies_extents_for_zeros);
    RUN(test_resize_takes_integers);
    RUN(test_resize_takes_a_computed_shape);
    RUN(test_upsample_recomputes_a_fractional_factor);
    RUN(test_crop_resize_takes_normalized_corners_turned_over_for_the_whole_image);
    RUN(test_integers_stay_whole_on_both_devices);
    RUN(test_integer_operations_give_the_same_on_both_devices);
    RUN(test_gathers_of_ios16_take_indices_of_16_bits);
    RUN(test_topk_takes_small_integers);
    RUN(test_parts_begin_at_small_integers);
    RUN(test_the_chip_has_forms_for_fed_positions);
    RUN(test_the_chip_names_its_rule_for_fed_amounts);
    RUN(test_non_zero_gives_the_rows_that_are_declared);
    RUN(test_reshape_counts_zeros_from_the_last_axis);
    RUN(test_concat_makes_a_vector_of_scalars);
    RUN(test_tile_repeats_by_a_fed_vector);
    RUN(test_random_uniform_of_equal_limits_is_that_number);
    RUN(test_conv_takes_a_weight_of_another_type);
    RUN(test_conv_transpose_takes_a_weight_of_another_type);
    RUN(test_linear_and_matmul_take_constants_of_another_type);
    RUN(test_an_integer_product_is_whole_on_both_devices);
    RUN(test_attention_takes_a_mask_of_the_other_float_type);
    RUN(test_linear_with_a_fed_weight_verifies);
    RUN(test_gradient_passes_types_that_differ);
    RUN(test_gradient_of_joined_scalars);
    RUN(test_gradient_of_conv_passes_types_that_differ);
    RUN(test_gradient_of_a_mask_of_the_other_type);
    return check_finish();
}
