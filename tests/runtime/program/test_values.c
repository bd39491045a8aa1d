/* Every way by which values enter, with every type they come in, into every kind of port, at the boundaries of the
 * types: what enters is what was given, or it is refused. What each type holds is said here by its definition (sign,
 * odd part and exponent), not by the library's conversions. */
#include "support/check.h"

#include "base/number/fp16.h"
#include "support/evaluated.h"

#include <float.h>
#include <millwright/inspect.h>
#include <millwright/millwright.h>
#include <stdint.h>
#include <stdlib.h>

/* ---- the numbers ---- */

/* An integer is sign and magnitude, so that uint64 and int64 are one range; a fraction has a real of its own. */
typedef struct number {
    bool negative;
    uint64_t magnitude;
    bool is_real;
    double real;
} number;

static double as_double(number n)
{
    if (n.is_real)
        return n.real;
    return n.negative ? -(double)n.magnitude : (double)n.magnitude;
}

static bool is_whole(number n) { return !n.is_real || (isfinite(n.real) && floor(n.real) == n.real); }

/* Magnitude of a whole number below 2^64. */
static uint64_t magnitude(number n) { return n.is_real ? (uint64_t)fabs(n.real) : n.magnitude; }
static bool is_negative(number n) { return n.is_real ? n.real < 0.0 : n.negative && n.magnitude != 0; }

static uint64_t odd_part(uint64_t m)
{
    while (m != 0 && m % 2 == 0)
        m /= 2;
    return m;
}

typedef struct type {
    mw_dtype dtype;
    uint64_t below, above; /* integers: magnitudes of the extremes */
    int digits;            /* floating point: bits of the significand */
    double largest;
} type;

static const type types[] = {
    {.dtype = MW_F64, .digits = 53, .largest = DBL_MAX},
    {.dtype = MW_F32, .digits = 24, .largest = (double)FLT_MAX},
    {.dtype = MW_F16, .digits = 11, .largest = 65504.0},
    {.dtype = MW_I64, .below = (uint64_t)1 << 63, .above = INT64_MAX},
    {.dtype = MW_U64, .above = UINT64_MAX},
    {.dtype = MW_I32, .below = (uint64_t)1 << 31, .above = INT32_MAX},
    {.dtype = MW_U32, .above = UINT32_MAX},
    {.dtype = MW_I16, .below = 32768, .above = 32767},
    {.dtype = MW_U16, .above = 65535},
    {.dtype = MW_I8, .below = 128, .above = 127},
    {.dtype = MW_U8, .above = 255},
    {.dtype = MW_BOOL, .above = 1},
};
enum { TYPES = sizeof types / sizeof types[0] };

static const type *find_type(mw_dtype dtype)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].dtype == dtype)
            return &types[i];
    return NULL;
}

static bool holds_integer(const type *t, number n)
{
    if (!is_whole(n) || fabs(as_double(n)) > 0x1p64)
        return false;
    if (t->digits == 0)
        return magnitude(n) <= (is_negative(n) ? t->below : t->above) && fabs(as_double(n)) < 0x1p64;
    return odd_part(magnitude(n)) < (uint64_t)1 << t->digits && fabs(as_double(n)) <= t->largest;
}

/* Half a unit of the last place above the largest number is where rounding begins to give infinity. */
static bool stays_finite(const type *t, double value)
{
    if (t->dtype == MW_F64)
        return isfinite(value);
    const double unit = ldexp(1.0, (t->dtype == MW_F16 ? 15 : 127) - t->digits + 1);
    return fabs(value) < t->largest + unit / 2.0;
}

static const number numbers[] = {
#define WHOLE(m)                                                                                                       \
    {false, m, false, 0.0}, { true, m, false, 0.0 }
    WHOLE(0),
    WHOLE(1),
    WHOLE(2),
    WHOLE(127),
    WHOLE(128),
    WHOLE(129),
    WHOLE(255),
    WHOLE(256),
    WHOLE(2047),
    WHOLE(2048),
    WHOLE(2049),
    WHOLE(3001),
    WHOLE(4096),
    WHOLE(4098),
    WHOLE(32767),
    WHOLE(32768),
    WHOLE(32769),
    WHOLE(65504),
    WHOLE(65505),
    WHOLE(65519),
    WHOLE(65520),
    WHOLE(65535),
    WHOLE(65536),
    WHOLE(70000),
    WHOLE(1 << 24),
    WHOLE((1 << 24) + 1),
    WHOLE(INT32_MAX),
    WHOLE((uint64_t)1 << 31),
    WHOLE(((uint64_t)1 << 31) + 1),
    WHOLE(UINT32_MAX),
    WHOLE((uint64_t)1 << 32),
    WHOLE((uint64_t)1 << 53),
    WHOLE(((uint64_t)1 << 53) + 1),
    WHOLE(INT64_MAX),
    WHOLE((uint64_t)1 << 63),
    WHOLE(UINT64_MAX),
#undef WHOLE
#define REAL(x)                                                                                                        \
    {false, 0, true, x}, { false, 0, true, -(x) }
    REAL(0.5),
    REAL(1.5),
    REAL(0.0999755859375),
    REAL(2048.5),
    REAL(65519.9),
    REAL(65520.0),
    REAL(7e4),
    REAL(1e-8),
    REAL(1e-30),
    REAL(3.4e38),
    REAL(3.5e38),
    REAL(1e300),
    REAL((double)INFINITY),
    REAL((double)NAN)
#undef REAL
};
enum { NUMBERS = sizeof numbers / sizeof numbers[0] };

static double from_half(uint16_t half)
{
    const int exponent = half >> 10 & 31, mantissa = half & 1023;
    const double size = exponent == 31  ? (mantissa != 0 ? (double)NAN : (double)INFINITY)
                        : exponent == 0 ? ldexp(mantissa, -24)
                                        : ldexp(1024 + mantissa, exponent - 25);
    return half & 0x8000 ? -size : size;
}

/* The number in memory of its type, two times; false if the type does not have it. */
static bool put(const type *t, number n, void *out)
{
    const double real = as_double(n);
    const int64_t whole = n.negative ? -(int64_t)(n.magnitude - 1) - 1 : (int64_t)n.magnitude;
    if (t->digits == 0 && !holds_integer(t, n))
        return false;
    if (t->digits != 0 && !n.is_real && !holds_integer(t, n))
        return false;
    if (t->dtype == MW_F32 && isfinite(real) && fabs(real) > (double)FLT_MAX)
        return false;
    const uint16_t half = t->dtype == MW_F16 ? mw__fp16_from_double(real) : 0;
    const bool same_half = from_half(half) == real || (isnan(real) && isnan(from_half(half)));
    if (t->dtype == MW_F16 && !same_half)
        return false;
    for (int i = 0; i < 2; i++) {
        const uint64_t bits = t->dtype == MW_U64 ? magnitude(n)
                              : n.is_real        ? (fabs(real) < 0x1p63 ? (uint64_t)(int64_t)real : 0)
                                                 : (uint64_t)whole;
        const float single = t->dtype == MW_F32 ? (float)real : 0.0F;
        const size_t size = (size_t)mw_dtype_bits(t->dtype) / 8;
        const void *from = t->dtype == MW_F64   ? (const void *)&real
                           : t->dtype == MW_F32 ? (const void *)&single
                           : t->dtype == MW_F16 ? (const void *)&half
                                                : (const void *)&bits; /* little-endian */
        memcpy((char *)out + (size_t)i * size, from, size);
    }
    return true;
}

/* Integers of less than 64 bits and floating point, as a port holds them. */
static double get(mw_dtype dtype, const void *data, size_t i)
{
    switch (dtype) {
    case MW_F32:
        return (double)((const float *)data)[i];
    case MW_F16:
        return from_half(((const uint16_t *)data)[i]);
    case MW_I32:
        return ((const int32_t *)data)[i];
    case MW_I16:
        return ((const int16_t *)data)[i];
    case MW_U16:
        return ((const uint16_t *)data)[i];
    case MW_I8:
        return ((const int8_t *)data)[i];
    default:
        return ((const uint8_t *)data)[i];
    }
}

/* ---- the rule ---- */

typedef struct port {
    mw_dtype declared, stored;
    mw_device device;
} port;

static const port ports[] = {{MW_F32, MW_F32, MW_DEVICE_CPU}, {MW_F16, MW_F16, MW_DEVICE_CPU},
                             {MW_I32, MW_I32, MW_DEVICE_CPU}, {MW_F32, MW_F16, MW_DEVICE_ANE},
                             {MW_F16, MW_F16, MW_DEVICE_ANE}, {MW_I32, MW_F16, MW_DEVICE_ANE}};
enum { PORTS = sizeof ports / sizeof ports[0] };

static mw_status expected_status(const type *from, const port *to, number n, bool finite)
{
    const type *stored = find_type(to->stored);
    const double value = as_double(n);
    if (to->declared == MW_I32)
        return is_whole(n) && holds_integer(find_type(MW_I32), n) && holds_integer(stored, n) ? MW_OK
                                                                                              : MW_ERROR_ARGUMENT;
    if (from->digits == 0)
        return holds_integer(stored, n) ? MW_OK : MW_ERROR_ARGUMENT;
    if (!isfinite(value))
        return finite ? MW_ERROR_NUMERIC : MW_OK;
    return stays_finite(stored, value) ? MW_OK : MW_ERROR_NUMERIC;
}

/* What the port must hold: integers as they are, the rest within half a unit of the last place. */
static bool is_right(const port *to, const type *from, number n, double held)
{
    const double value = as_double(n);
    if (to->declared == MW_I32 || from->digits == 0 || !isfinite(value))
        return held == value || (isnan(held) && isnan(value));
    const type *stored = find_type(to->stored);
    const double least = to->stored == MW_F16 ? 0x1p-24 : 0x1p-149;
    const double unit = fmax(ldexp(1.0, ilogb(fmax(fabs(value), DBL_MIN)) - stored->digits + 1), least);
    return fabs(held - value) <= unit / 2.0;
}

/* ---- the ways ---- */

/* loss = sum(y) + 0 sum(w): what the port held, wherever nobody can look. */
typedef struct bench {
    const port *port;
    mw_graph *graph;
    mw_tensor *w, *loss;
    mw_program *program;
    mw_trainer *trainer, *gatherer;
} bench;

static mw_trainer *make_trainer(bench *b, int accumulate, mw_error *err)
{
    mw_trainer_options options = mw_trainer_defaults(b->loss, mw_sgd(1e-3F));
    options.prediction = b->loss;
    options.compile.device = b->port->device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    options.accumulate = accumulate;
    options.dispatch_steps = accumulate > 1 ? 0 : 2;
    return mw_trainer_create(&options, err);
}

static bench bench_create(const port *p)
{
    mw_error err = {0};
    bench b = {.port = p, .graph = mw_graph_create(NULL, NULL)};
    mw_tensor *y = mw_input(b.graph, "y", p->declared, MW_SHAPE(2));
    mw_tensor *single = p->declared == MW_F32 ? y : mw_cast(y, MW_F32);
    b.w = mw_parameter(b.graph, "w", MW_F32, MW_SHAPE(2), mw_init_zeros());
    mw_tensor *nothing = mw_mul_scalar(mw_reduce_sum(b.w, MW_ALL_AXES, false), 0.0);
    b.loss = mw_add(mw_reduce_sum(single, MW_ALL_AXES, false), nothing);
    b.trainer = make_trainer(&b, 1, &err);
    b.gatherer = make_trainer(&b, 2, &err);
    mw_output(b.loss, "sum");
    mw_compile_options options = mw_compile_defaults();
    options.device = p->device;
    options.provider = MW_PROVIDER_ENGINE;
    options.threads = 1;
    b.program = mw_program_create(b.graph, &options, &err);
    CHECK_OK(err);
    return b;
}

static void bench_destroy(bench *b)
{
    mw_program_destroy(b->program);
    mw_trainer_destroy(b->gatherer);
    mw_trainer_destroy(b->trainer);
    mw_graph_destroy(b->graph);
}

/* Data of two elements, 0 and the number; *out_held is the number as the program had it. */
typedef mw_status way(bench *b, const mw_feed *feed, double *out_held, mw_error *err);

static mw_status by_write(bench *b, const mw_feed *feed, double *out_held, mw_error *err)
{
    const mw_status status = mw_program_write(b->program, "y", feed->dtype, feed->data, 2, err);
    mw_error ignored = {0};
    *out_held = get(b->port->stored, mw_program_view(b->program, "y", &ignored), 1);
    return status;
}

static mw_batch batch_of(const mw_feed *feed) { return (mw_batch){.feeds = feed, .feed_count = 1, .examples = 2}; }

static mw_status by_step(bench *b, const mw_feed *feed, double *out_held, mw_error *err)
{
    float loss = 0.0F;
    const mw_batch batch = batch_of(feed);
    const mw_status status = mw_trainer_step(b->trainer, &batch, &loss, err);
    *out_held = (double)loss;
    return status;
}

static mw_status by_dispatch(bench *b, const mw_feed *feed, double *out_held, mw_error *err)
{
    float losses[2] = {0.0F, 0.0F};
    static const float zeros[2];
    const mw_feed nothing = {.name = "y", .dtype = MW_F32, .data = zeros, .count = 2};
    const mw_batch batches[2] = {batch_of(&nothing), batch_of(feed)};
    const mw_status status = mw_trainer_step_many(b->trainer, batches, 2, losses, err);
    *out_held = (double)losses[1];
    return status;
}

static mw_status by_gathering(bench *b, const mw_feed *feed, double *out_held, mw_error *err)
{
    float loss = 0.0F;
    const mw_batch batch = batch_of(feed);
    const mw_status status = mw_trainer_step(b->gatherer, &batch, &loss, err);
    *out_held = (double)loss;
    return status;
}

static mw_status by_prediction(bench *b, const mw_feed *feed, double *out_held, mw_error *err)
{
    float sum = 0.0F;
    const mw_batch batch = batch_of(feed);
    const mw_status status = mw_trainer_predict(b->trainer, &batch, MW_F32, &sum, 1, err);
    *out_held = (double)sum;
    return status;
}

/* Two examples of one column. */
static mw_dataset *dataset_of(const mw_feed *feed, mw_error *err)
{
    const mw_column column = {.name = "y", .dtype = feed->dtype, .data = feed->data};
    return mw_dataset_create(&column, 1, 2, true, err);
}

static mw_status by_evaluation(bench *b, const mw_feed *feed, double *out_held, mw_error *err)
{
    mw_dataset *data = dataset_of(feed, err);
    const mw_status status = evaluated(b->trainer, data, out_held, NULL, err);
    mw_dataset_destroy(data);
    return status;
}

static bool note_loss(void *user, const mw_progress *progress)
{
    *(double *)user = progress->loss;
    return false;
}

static mw_status by_fit(bench *b, const mw_feed *feed, double *out_held, mw_error *err)
{
    mw_dataset *data = dataset_of(feed, err);
    mw_fit_options options = mw_fit_defaults(data, 1);
    options.progress.quiet = options.progress.ignore_signals = options.data.keep_order = true;
    options.progress.function = note_loss;
    options.progress.user = out_held;
    const mw_status status = mw_trainer_fit(b->trainer, &options, err);
    mw_dataset_destroy(data);
    return status;
}

/* Only whether it enters: gradients by w are 0 whatever y is. */
static mw_status by_gradcheck(bench *b, const mw_feed *feed, double *out_held, mw_error *err)
{
    const mw_batch batch = batch_of(feed);
    mw_gradcheck_options options = mw_gradcheck_defaults(b->loss, &b->w, 1);
    options.batch = &batch;
    options.compile.device = b->port->device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.elements = options.directions = 1;
    *out_held = (double)NAN;
    return mw_gradcheck_run(&options, NULL, err);
}

typedef enum shows { MEMORY, SUM, NOTHING } shows;

static const struct {
    const char *name;
    way *enter;
    shows shows;
    bool finite; /* NaN and infinities are refused */
} ways[] = {{.name = "mw_program_write", .enter = by_write, .shows = MEMORY},
            {.name = "mw_trainer_step", .enter = by_step, .shows = SUM, .finite = true},
            {.name = "mw_trainer_step_many", .enter = by_dispatch, .shows = SUM, .finite = true},
            {.name = "accumulation", .enter = by_gathering, .shows = SUM, .finite = true},
            {.name = "mw_trainer_predict", .enter = by_prediction, .shows = SUM, .finite = true},
            {.name = "mw_trainer_evaluate", .enter = by_evaluation, .shows = SUM, .finite = true},
            {.name = "mw_trainer_fit", .enter = by_fit, .shows = SUM, .finite = true},
            {.name = "mw_gradcheck_run", .enter = by_gradcheck, .shows = NOTHING, .finite = true}};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* The sum is fp32 or fp16 and so may round what an int32 port holds. */
static bool shown_right(const bench *b, size_t w, const type *from, number n, double held)
{
    if (ways[w].shows == NOTHING)
        return true;
    if (ways[w].shows == SUM && b->port->stored == MW_I32)
        return held == (double)(float)as_double(n);
    return is_right(b->port, from, n, held);
}

static void check_one(bench *b, size_t w, const type *from, number n)
{
    union {
        double align;
        char bytes[16];
    } data = {0};
    if (!put(from, n, data.bytes))
        return;
    memset(data.bytes, 0, (size_t)mw_dtype_bits(from->dtype) / 8); /* element 0 is 0 */
    const mw_feed feed = {.name = "y", .dtype = from->dtype, .data = data.bytes, .count = 2};
    mw_error err = {0};
    double held = 0.0;
    const mw_status wanted = expected_status(from, b->port, n, ways[w].finite);
    const mw_status status = ways[w].enter(b, &feed, &held, &err);
    const bool good = status == wanted && (status != MW_OK || shown_right(b, w, from, n, held)) &&
                      (status == MW_OK || strstr(err.message, "element 1") != NULL);
    check_note(good, __FILE__, __LINE__, "%s: %s %.17g into %s (%s in memory): status %d, not %d; held %.9g; %s",
               ways[w].name, mw_dtype_name(from->dtype), as_double(n), mw_dtype_name(b->port->declared),
               mw_dtype_name(b->port->stored), (int)status, (int)wanted, held, err.message);
}

static void test_no_way_changes_an_integer_or_loses_a_number(void)
{
    for (size_t p = 0; p < PORTS; p++) {
        bench b = bench_create(&ports[p]);
        REQUIRE(b.program != NULL && b.trainer != NULL && b.gatherer != NULL);
        for (size_t w = 0; w < WAYS; w++)
            for (size_t t = 0; t < TYPES; t++)
                for (size_t n = 0; n < NUMBERS; n++)
                    check_one(&b, w, &types[t], numbers[n]);
        bench_destroy(&b);
    }
}

/* ---- the message, and what is left behind ---- */

static void test_a_refusal_says_port_element_value_and_rule_and_keeps_the_port(void)
{
    mw_error err = {0};
    bench b = bench_create(&ports[5]);
    const int64_t good[2] = {7, 2050}, bad[2] = {8, 3001}, huge[2] = {INT64_MIN, 0};
    REQUIRE(b.program != NULL);
    CHECK_INT(mw_program_write(b.program, "y", MW_I64, good, 2, &err), MW_OK);
    CHECK_INT(mw_program_write(b.program, "y", MW_I64, bad, 2, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "port \"y\" element 1 is 3001, which fp16 does not have");
    CHECK_STR(err.tensor, "y");
    err = (mw_error){0};
    CHECK_INT(mw_program_write(b.program, "y", MW_I64, huge, 2, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "element 0 is -9223372036854775808, which int32 cannot hold");
    err = (mw_error){0};
    int64_t back[2] = {0, 0};
    CHECK_INT(mw_program_read(b.program, "y", MW_I64, back, 2, &err), MW_OK);
    CHECK_INT(back[0], 7);
    CHECK_INT(back[1], 2050);
    bench_destroy(&b);
}

static void test_reading_follows_the_same_rule(void)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *i = mw_input(graph, "i", MW_I32, MW_SHAPE(1)), *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1));
    mw_output(mw_cast(i, MW_F32), "y");
    mw_output(x, "z");
    mw_compile_options options = mw_compile_defaults();
    options.device = MW_DEVICE_CPU;
    options.provider = MW_PROVIDER_ENGINE;
    mw_program *program = mw_program_create(graph, &options, &err);
    REQUIRE(CHECK_OK(err));
    const int32_t odd = (1 << 24) + 1;
    const float large = 1e6F;
    mw_program_write(program, "i", MW_I32, &odd, 1, &err);
    mw_program_write(program, "x", MW_F32, &large, 1, &err);
    CHECK_OK(err);
    float single;
    uint16_t half;
    double wide = 0.0;
    CHECK_INT(mw_program_read(program, "i", MW_F32, &single, 1, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "16777217");
    err = (mw_error){0};
    CHECK_INT(mw_program_read(program, "x", MW_F16, &half, 1, &err), MW_ERROR_NUMERIC);
    CHECK_ERROR(err, MW_ERROR_NUMERIC, "is 1000000, too large for fp16");
    err = (mw_error){0};
    CHECK_INT(mw_program_read(program, "i", MW_F64, &wide, 1, &err), MW_OK);
    CHECK_NEAR(wide, 16777217.0, 0.0);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
}

/* ---- scale and offset ---- */

static mw_status feed_scaled(bench *b, mw_dtype dtype, const void *data, float scale, float offset, double *out)
{
    mw_error err = {0};
    const mw_feed feed = {.name = "y", .dtype = dtype, .data = data, .count = 2, .scale = scale, .offset = offset};
    return by_prediction(b, &feed, out, &err);
}

static void test_whole_scales_keep_integers_and_fractions_make_numbers(void)
{
    bench half = bench_create(&ports[3]), label = bench_create(&ports[5]);
    REQUIRE(half.trainer != NULL && label.trainer != NULL);
    const int32_t large[2] = {0, 3001}, ones[2] = {1, 2049};
    const uint8_t pixels[2] = {0, 255};
    double held = 0.0;
    CHECK_INT(feed_scaled(&half, MW_I32, large, 1.0F, 0.0F, &held), MW_ERROR_ARGUMENT);
    CHECK_INT(feed_scaled(&half, MW_I32, large, 0.0F, -1.0F, &held), MW_OK); /* 3000, and -1 */
    CHECK_NEAR(held, 2999.0, 1.0);
    CHECK_INT(feed_scaled(&half, MW_I32, large, 1e-3F, 0.0F, &held), MW_OK); /* a number: rounded */
    CHECK_NEAR(held, 3.001, 0x1p-10);
    CHECK_INT(feed_scaled(&half, MW_U8, pixels, 1.0F / 255.0F, 0.0F, &held), MW_OK);
    CHECK_NEAR(held, 1.0, 0.0);
    CHECK_INT(feed_scaled(&half, MW_U8, pixels, 300.5F, 0.0F, &held), MW_ERROR_NUMERIC);
    CHECK_INT(feed_scaled(&label, MW_I32, ones, 1.0F, -1.0F, &held), MW_OK); /* 0 and 2048 */
    CHECK_NEAR(held, 2048.0, 0.0);
    CHECK_INT(feed_scaled(&label, MW_I32, ones, 1.0F, 0.5F, &held), MW_ERROR_ARGUMENT);
    CHECK_INT(feed_scaled(&label, MW_I32, ones, 3.0F, 0.0F, &held), MW_ERROR_ARGUMENT); /* 6147 */
    bench_destroy(&label);
    bench_destroy(&half);
}

/* ---- indices ---- */

/* Labels that reach the loss and the table in another shape are labels still. */
static mw_graph *labeled(bool reshaped, mw_cross_entropy_options *options)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *y = mw_input(graph, "y", MW_I32, reshaped ? MW_SHAPE(1, 2) : MW_SHAPE(2));
    mw_tensor *flat = reshaped ? mw_reshape(mw_transpose(y, MW_AXES(1, 0)), MW_SHAPE(2)) : y;
    mw_tensor *logits = mw_parameter(graph, "w", MW_F32, MW_SHAPE(2, 10), mw_init_zeros());
    mw_output(mw_cross_entropy_with(logits, flat, options), "loss");
    return graph;
}

static void test_labels_out_of_range_do_not_enter_a_program(void)
{
    static const struct {
        int32_t label;
        bool inside, ignored;
    } cases[] = {{0, true, false},
                 {9, true, false},
                 {10, false, false},
                 {-1, false, false},
                 {-100, false, true},
                 {2147483647, false, false},
                 {-2147483647 - 1, false, false}};
    for (int form = 0; form < 8; form++) {
        const bool reshaped = form & 1, ignores = form & 2;
        mw_error err = {0};
        mw_cross_entropy_options loss = mw_cross_entropy_defaults();
        if (ignores)
            loss.ignore_index = -100;
        mw_graph *graph = labeled(reshaped, &loss);
        mw_compile_options options = mw_compile_defaults();
        options.device = form & 4 ? MW_DEVICE_ANE : MW_DEVICE_CPU;
        options.provider = MW_PROVIDER_ENGINE;
        mw_program *program = mw_program_create(graph, &options, &err);
        REQUIRE(CHECK_OK(err));
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            const int32_t labels[2] = {3, cases[i].label};
            const bool enters = cases[i].inside || (cases[i].ignored && ignores);
            err = (mw_error){0};
            CHECK_INT(mw_program_write(program, "y", MW_I32, labels, 2, &err), enters ? MW_OK : MW_ERROR_ARGUMENT);
            if (!enters && abs(cases[i].label / 2) < 1000)
                CHECK_CONTAINS(err.message, "not in 0 .. 9");
        }
        mw_program_destroy(program);
        mw_graph_destroy(graph);
    }
}

/* Core ML programs declare token numbers as fp32 and cast them: 3001 would be another word in an fp16 port. */
static void test_floats_that_become_indices_are_exact(void)
{
    static const struct {
        float value;
        bool enters[2]; /* fp32 port, fp16 port */
    } cases[] = {{2048.0F, {true, true}},   {2049.0F, {true, false}}, {3001.0F, {true, false}},
                 {4096.0F, {true, true}},   {0.3F, {true, true}},     {-3001.0F, {true, false}},
                 {70000.0F, {true, false}}, {2049.5F, {true, true}}};
    for (int k = 0; k < 2; k++) {
        mw_error err = {0};
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *ids = mw_input(graph, "ids", MW_F32, MW_SHAPE(1, 2));
        mw_tensor *words = mw_cast(mw_reshape(ids, MW_SHAPE(2)), MW_I32);
        mw_output(mw_cast(words, MW_F32), "y");
        mw_compile_options options = mw_compile_defaults();
        options.device = k == 0 ? MW_DEVICE_CPU : MW_DEVICE_ANE;
        options.provider = MW_PROVIDER_ENGINE;
        mw_program *program = mw_program_create(graph, &options, &err);
        REQUIRE(CHECK_OK(err));
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            const float values[2] = {1.0F, cases[i].value};
            err = (mw_error){0};
            mw_program_write(program, "ids", MW_F32, values, 2, &err);
            check_note((err.status == MW_OK) == cases[i].enters[k], __FILE__, __LINE__, "%g: %s", (double)values[1],
                       err.message);
        }
        mw_program_destroy(program);
        mw_graph_destroy(graph);
    }
}

int main(void)
{
    RUN(test_no_way_changes_an_integer_or_loses_a_number);
    RUN(test_a_refusal_says_port_element_value_and_rule_and_keeps_the_port);
    RUN(test_reading_follows_the_same_rule);
    RUN(test_whole_scales_keep_integers_and_fractions_make_numbers);
    RUN(test_floats_that_become_indices_are_exact);
    RUN(test_labels_out_of_range_do_not_enter_a_program);
    return check_finish();
}
