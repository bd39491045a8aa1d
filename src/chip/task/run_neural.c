/* The neural engines: multiply and add over a kernel, or pass; then the activation, the post-scale and one rounding.
 * Sums are fp32, over input channels, then rows and columns of the kernel, from the bias on; what lies in the padding
 * is left out of them. */
#include "base/number/fp16.h"
#include "chip/task/coefficients.h"
#include "chip/task/run.h"
#include "chip/task/table.h"
#include "rules/fixed_point.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ACTIVATION_NONE, ACTIVATION_RELU, ACTIVATION_TABLE };
enum { MAC_MULTIPLY = 0, MAC_PASS = 12 };

typedef struct neural {
    mw__coefficient_layout layout;
    mw__coefficient_tile tiles[MW__TILES];
    int64_t kernel_w, kernel_h, step_w, step_h, left, top;
    int64_t inputs; /* channels that one output reads */
    bool multiplies;
    unsigned activation;
    mw__chip_table table;
    float scale;
    mw__chip_result kind;
    mw__arithmetic arithmetic;
    /* of the machine's allocator */
    float *source;          /* [groups, channels, height, width] */
    float *sums;            /* [height, width] of one output channel */
    float *numbers;         /* [bias + rows] of it */
    uint16_t *coefficients; /* the same as they are read */
} neural;

/* ---- what the registers say ---- */

static void read_kernel(neural *n, const mw__task *task)
{
    n->kernel_w = mw__task_field(task, MW__FIELD_kernel_w);
    n->kernel_h = mw__task_field(task, MW__FIELD_kernel_h);
    n->step_w = mw__task_field(task, MW__FIELD_stride_w);
    n->step_h = mw__task_field(task, MW__FIELD_stride_h);
    n->left = mw__task_field(task, MW__FIELD_pad_left);
    n->top = mw__task_field(task, MW__FIELD_pad_top);
    n->activation = mw__task_field(task, MW__FIELD_activation);
    n->scale = ldexpf(mw__fp16_to_float((uint16_t)mw__task_field(task, MW__FIELD_post_scale_value)),
                      -(int)mw__task_field(task, MW__FIELD_post_scale_shift));
}

static void read_layout(neural *n, const mw__chip_job *job)
{
    const mw__task *task = job->task;
    const bool unicast = mw__task_field(task, MW__FIELD_unicast) != 0;
    n->inputs = unicast ? (int64_t)mw__task_field(task, MW__FIELD_unicast_cin) : job->in[0].channels;
    n->layout = (mw__coefficient_layout){.outputs = job->out.channels,
                                         .groups = job->out.groups,
                                         .rows = n->inputs * n->kernel_h * n->kernel_w,
                                         .engines = 1u << mw__task_field(task, MW__FIELD_active_ne),
                                         .lanes = 1u << mw__task_field(task, MW__FIELD_lanes),
                                         .bias = mw__task_field(task, MW__FIELD_bias_row) != 0,
                                         .unicast = unicast,
                                         .sparse = mw__task_field(task, MW__FIELD_sparse) != 0};
}

static mw_status check_operation(neural *n, const mw__task *task, mw_error *err)
{
    const unsigned what = mw__task_field(task, MW__FIELD_mac_operation);
    const unsigned format = mw__task_field(task, MW__FIELD_kernel_format);
    n->multiplies = what == MAC_MULTIPLY;
    if (what != MAC_MULTIPLY && what != MAC_PASS)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "MACCfg.mac_operation is %u: an operation nobody has explained",
                        what);
    if (n->multiplies && format != 2)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "KernelCfg.kernel_format is %u: coefficients that are not fp16",
                        format);
    if (n->multiplies && mw__task_field(task, MW__FIELD_binary_point) != 14)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "MACCfg.binary_point is %u, and 14 wherever there are coefficients",
                        (unsigned)mw__task_field(task, MW__FIELD_binary_point));
    return MW_OK;
}

static bool has_same_extents(const mw__chip_tile *a, const mw__chip_tile *b)
{
    return a->channels == b->channels && a->height == b->height && a->width == b->width;
}

/* A pass takes each element to its own place. */
static mw_status check_pass(const neural *n, const mw__chip_job *job, mw_error *err)
{
    const bool plain = n->kernel_w == 1 && n->kernel_h == 1 && n->step_w == 1 && n->step_h == 1 && n->left == 0 &&
                       n->top == 0 && !n->layout.bias;
    if (plain && has_same_extents(&job->in[0], &job->out))
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "a pass task with a kernel, a bias, or other extents out (%" PRId64 " x %" PRId64 " x %" PRId64
                    ") than in",
                    job->out.channels, job->out.height, job->out.width);
}

static mw_status check_product(const neural *n, const mw__chip_job *job, mw_error *err)
{
    const mw__coefficient_layout *l = &n->layout;
    if (n->activation == ACTIVATION_TABLE)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "coefficients and a table in one task: where the table lies then is not known");
    if (n->inputs == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "unicast: outputs of 0 inputs");
    if (l->unicast && l->outputs * n->inputs > job->in[0].channels)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "unicast: %" PRId64 " outputs of %" PRId64 " inputs each, and there are %" PRId64, l->outputs,
                        n->inputs, job->in[0].channels);
    const bool known = n->kernel_w == 1 && n->kernel_h == 1 && l->lanes <= MW__SPARSE_LANES_MAX && !l->unicast &&
                       l->groups == 1 && l->outputs <= (int64_t)l->engines * l->lanes;
    if (l->sparse && !known)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "zero-skipping coefficients of a kernel of %" PRId64 " x %" PRId64 " with %u lanes; known are "
                        "1 x 1 with at most %d, one plane an engine",
                        n->kernel_h, n->kernel_w, l->lanes, MW__SPARSE_LANES_MAX);
    return MW_OK;
}

/* ---- coefficients and tables ---- */

/* What engine `index` reads; empty for an idle one. */
static mw_status find_tile(const mw__chip_job *job, unsigned index, mw__coefficient_tile *out, mw_error *err)
{
    const mw__task *task = job->task;
    uint8_t *data;
    size_t room;
    if (mw__task_field_at(task, MW__FIELD_coefficient_enable, index) == 0)
        return MW_OK;
    const size_t size = mw__task_get_at(task, MW__REGISTER_coefficient_size, index);
    MW_TRY(mw__chip_find_memory(job->machine, mw__task_field(task, MW__FIELD_kernel_base),
                                mw__task_get_at(task, MW__REGISTER_coefficient_base, index), false, &data, &room, err));
    if (size > room)
        return mw__fail(err, MW_ERROR_FORMAT, "coefficients of engine %u: %zu bytes, and there are %zu", index, size,
                        room);
    *out = (mw__coefficient_tile){.data = data, .size = size};
    return MW_OK;
}

static mw_status find_tiles(neural *n, const mw__chip_job *job, mw_error *err)
{
    if (mw__task_field(job->task, MW__FIELD_kernel_enable) == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "Header[9] names no base register of coefficients");
    for (unsigned i = 0; i < MW__TILES; i++)
        MW_TRY(find_tile(job, i, &n->tiles[i], err));
    return MW_OK;
}

/* All engines read the same table: that of the first. */
static mw_status find_table(neural *n, const mw__chip_job *job, mw_error *err)
{
    MW_TRY(find_tiles(n, job, err));
    if (n->tiles[0].size == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "an activation by a table, and engine 0 reads none");
    return mw__chip_table_read(n->tiles[0].data, n->tiles[0].size, &n->table, err);
}

/* A tile holds at least two bytes of each row, so that rows beyond it are found before room is made for them. */
static mw_status check_rows(const neural *n, mw_error *err)
{
    if ((uint64_t)(n->layout.rows + n->layout.bias) <= n->tiles[0].size / 2)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "coefficients of engine 0: %zu bytes for %" PRId64 " numbers a channel",
                    n->tiles[0].size, n->layout.rows + n->layout.bias);
}

/* ---- room ---- */

static mw_status take_memory(mw__chip_machine *machine, size_t *left, uint64_t count, size_t size, void *out,
                             mw_error *err)
{
    if (count > *left / size)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "a task that takes more than %zu bytes; the limit is memory_limit of the options",
                        machine->limits.memory);
    *left -= (size_t)count * size;
    void *block = mw__alloc(machine->allocator, (size_t)count, size, err);
    memcpy(out, &block, sizeof block);
    return block != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status take_room(neural *n, const mw__chip_job *job, mw_error *err)
{
    mw__chip_machine *m = job->machine;
    const mw__chip_tile *in = &job->in[0];
    size_t left = m->limits.memory;
    MW_TRY(take_memory(m, &left, (uint64_t)(in->groups * in->channels * in->height * in->width), sizeof *n->source,
                       &n->source, err));
    MW_TRY(take_memory(m, &left, (uint64_t)(job->out.height * job->out.width), sizeof *n->sums, &n->sums, err));
    if (!n->multiplies)
        return MW_OK;
    const uint64_t numbers = (uint64_t)(n->layout.rows + n->layout.bias);
    MW_TRY(take_memory(m, &left, numbers, sizeof *n->numbers, &n->numbers, err));
    return take_memory(m, &left, numbers, sizeof *n->coefficients, &n->coefficients, err);
}

static void free_room(const neural *n, const mw_allocator *allocator)
{
    mw__free(allocator, n->source);
    mw__free(allocator, n->sums);
    mw__free(allocator, n->numbers);
    mw__free(allocator, n->coefficients);
}

static void load_source(const neural *n, const mw__chip_job *job)
{
    const mw__chip_tile *t = &job->in[0];
    float *out = n->source;
    for (int64_t g = 0; g < t->groups; g++)
        for (int64_t c = 0; c < t->channels; c++)
            for (int64_t y = 0; y < t->height; y++)
                for (int64_t x = 0; x < t->width; x++)
                    *out++ = mw__chip_load(job, t, t->data + g * t->group + c * t->plane + y * t->row + 2 * x);
}

/* ---- sums ---- */

/* Output positions whose input at position + `shift` (in steps) lies in [0, extent): [*out_first, *out_end). */
static void positions(int64_t shift, int64_t step, int64_t extent, int64_t count, int64_t *out_first, int64_t *out_end)
{
    const int64_t first = shift >= 0 ? 0 : (-shift + step - 1) / step;
    const int64_t end = extent > shift ? (extent - shift + step - 1) / step : 0;
    *out_first = first < count ? first : count;
    *out_end = end < count ? end : count;
}

/* Adds w times one plane of the source, moved by a tap of the kernel. */
static void add_tap(const neural *n, const mw__chip_job *job, const float *plane, int64_t tap_y, int64_t tap_x, float w)
{
    const mw__chip_tile *in = &job->in[0], *out = &job->out;
    const int64_t down = tap_y - n->top, right = tap_x - n->left;
    int64_t y0, y1, x0, x1;
    positions(down, n->step_h, in->height, out->height, &y0, &y1);
    positions(right, n->step_w, in->width, out->width, &x0, &x1);
    for (int64_t y = y0; y < y1; y++) {
        const float *from = plane + (y * n->step_h + down) * in->width + right;
        float *sums = n->sums + y * out->width;
        for (int64_t x = x0; x < x1; x++)
            sums[x] += w * from[x * n->step_w];
    }
}

static const float *input_plane(const neural *n, const mw__chip_job *job, int64_t group, int64_t output, int64_t input)
{
    const mw__chip_tile *in = &job->in[0];
    const int64_t channel = n->layout.unicast ? output * n->inputs + input : input;
    return n->source + (group * in->channels + channel) * in->height * in->width;
}

static void sum_plainly(const neural *n, const mw__chip_job *job, int64_t group, int64_t output)
{
    const int64_t count = job->out.height * job->out.width;
    const float *w = n->numbers + n->layout.bias;
    for (int64_t i = 0; i < count; i++)
        n->sums[i] = n->layout.bias ? n->numbers[0] : 0.0f;
    for (int64_t c = 0; c < n->inputs; c++) {
        const float *plane = input_plane(n, job, group, output, c);
        for (int64_t y = 0; y < n->kernel_h; y++)
            for (int64_t x = 0; x < n->kernel_w; x++)
                add_tap(n, job, plane, y, x, *w++);
    }
}

/* ---- sums by fours (arithmetic.def, product_tiles) ---- */

/* x without what is below the twelfth bit of `most`, ties to even. */
static float aligned(float x, float most)
{
    int power = 0;
    if (!isfinite(most) || most == 0.0f)
        return x;
    frexpf(most, &power);
    const float much = ldexpf(1.5f, power + 11); /* its last bit is that bit: 2^(power - 12) */
    return (x + much) - much;
}

static float add_aligned(float a, float b)
{
    const float most = fabsf(a) > fabsf(b) ? a : b;
    return aligned(a, most) + aligned(b, most);
}

static float element_at(const neural *n, const mw__chip_job *job, const float *plane, int64_t y, int64_t x)
{
    const mw__chip_tile *in = &job->in[0];
    (void)n;
    return y >= 0 && y < in->height && x >= 0 && x < in->width ? plane[y * in->width + x] : 0.0f;
}

static float sum_of_fours(const neural *n, const mw__chip_job *job, int64_t group, int64_t output, int64_t y, int64_t x)
{
    enum { FOUR = 4 };
    const int64_t taps = n->kernel_h * n->kernel_w;
    float sum = n->layout.bias ? n->numbers[0] : 0.0f, four = 0.0f;
    for (int64_t i = 0; i < n->layout.rows; i++) {
        const int64_t tap = i % taps;
        const float *plane = input_plane(n, job, group, output, i / taps);
        const float in = element_at(n, job, plane, y * n->step_h + tap / n->kernel_w - n->top,
                                    x * n->step_w + tap % n->kernel_w - n->left);
        const float product = mw__fp16_to_float(mw__fp16_from_float(n->numbers[n->layout.bias + i] * in));
        four = i % FOUR == 0 ? product : add_aligned(four, product);
        if (i % FOUR == FOUR - 1 || i == n->layout.rows - 1)
            sum += four;
    }
    return sum;
}

static void sum_by_fours(const neural *n, const mw__chip_job *job, int64_t group, int64_t output)
{
    for (int64_t y = 0; y < job->out.height; y++)
        for (int64_t x = 0; x < job->out.width; x++)
            n->sums[y * job->out.width + x] = sum_of_fours(n, job, group, output, y, x);
}

/* ---- fixed-point sums (arithmetic.def, product_fixed_point) ---- */

static double fixed_sum(const neural *n, const mw__chip_job *job, int64_t group, int64_t output, int64_t y, int64_t x)
{
    const int64_t taps = n->kernel_h * n->kernel_w;
    const bool drops = (n->arithmetic & MW__ARITHMETIC(product_drops)) != 0;
    double sum = n->layout.bias ? mw__q16_add(0.0, mw__q16_units((double)n->numbers[0])) : 0.0;
    for (int64_t i = 0; i < n->layout.rows; i++) {
        const int64_t tap = i % taps;
        const float *plane = input_plane(n, job, group, output, i / taps);
        const float in = element_at(n, job, plane, y * n->step_h + tap / n->kernel_w - n->top,
                                    x * n->step_w + tap % n->kernel_w - n->left);
        const float weight = mw__q16_operand(n->numbers[n->layout.bias + i]);
        sum = mw__q16_add(sum, mw__q16_product(mw__q16_operand(in), weight, drops));
    }
    return sum;
}

static void sum_in_fixed_point(const neural *n, const mw__chip_job *job, int64_t group, int64_t output)
{
    for (int64_t y = 0; y < job->out.height; y++)
        for (int64_t x = 0; x < job->out.width; x++)
            n->sums[y * job->out.width + x] = mw__q16_sum(fixed_sum(n, job, group, output, y, x));
}

/* ---- after the sums ---- */

static uint16_t finish_sum(const neural *n, float sum)
{
    if (sum != sum && (n->arithmetic & MW__ARITHMETIC(no_nan)) != 0)
        sum = 0.0f;
    float y = sum;
    if (n->activation == ACTIVATION_RELU)
        y = sum < 0.0f ? 0.0f : sum;
    else if (n->activation == ACTIVATION_TABLE)
        y = mw__chip_table_at(&n->table, sum);
    return mw__chip_round(y * n->scale, n->kind, n->arithmetic);
}

static mw_status read_numbers(const neural *n, int64_t group, int64_t output, mw_error *err)
{
    MW_TRY(mw__coefficient_read(&n->layout, n->tiles, group, output, n->coefficients, err));
    for (int64_t i = 0; i < n->layout.rows + n->layout.bias; i++)
        n->numbers[i] = mw__fp16_to_float(n->coefficients[i]);
    return MW_OK;
}

static mw_status sum_channel(const neural *n, const mw__chip_job *job, int64_t group, int64_t output, mw_error *err)
{
    if (!n->multiplies) {
        const size_t count = (size_t)(job->out.height * job->out.width);
        const mw__chip_tile *in = &job->in[0];
        memcpy(n->sums, n->source + (group * in->channels + output) * in->height * in->width, count * sizeof *n->sums);
        return MW_OK;
    }
    MW_TRY(read_numbers(n, group, output, err));
    if ((n->arithmetic & MW__ARITHMETIC(product_tiles)) != 0)
        sum_by_fours(n, job, group, output);
    else if ((n->arithmetic & MW__ARITHMETIC(product_fixed_point)) != 0)
        sum_in_fixed_point(n, job, group, output);
    else
        sum_plainly(n, job, group, output);
    return MW_OK;
}

static mw_status run_channels(const neural *n, const mw__chip_job *job, mw_error *err)
{
    const int64_t count = job->out.height * job->out.width;
    uint16_t *out = job->result;
    load_source(n, job);
    for (int64_t g = 0; g < job->out.groups; g++)
        for (int64_t c = 0; c < job->out.channels; c++, out += count) {
            MW_TRY(sum_channel(n, job, g, c, err));
            for (int64_t i = 0; i < count; i++)
                out[i] = finish_sum(n, n->sums[i]);
        }
    return MW_OK;
}

/* The elements of the result fit in a window and those of a channel in a tile, so only their product may be too large.
 */
static mw_status spend(const neural *n, const mw__chip_job *job, mw_error *err)
{
    const uint64_t elements = (uint64_t)(job->out.groups * job->out.channels * job->out.height * job->out.width);
    uint64_t work;
    if (__builtin_mul_overflow(elements, n->multiplies ? (uint64_t)n->layout.rows + 1 : 1, &work))
        work = UINT64_MAX;
    return mw__chip_spend(job->machine, work, err);
}

static mw_status prepare_neural(neural *n, const mw__chip_job *job, mw_error *err)
{
    read_kernel(n, job->task);
    read_layout(n, job);
    n->arithmetic = job->machine->arithmetic;
    MW_TRY(check_operation(n, job->task, err));
    MW_TRY(n->multiplies ? check_product(n, job, err) : check_pass(n, job, err));
    if (n->multiplies)
        n->kind = n->layout.rows > 1 ? MW__RESULT_PRODUCTS : MW__RESULT_SINGLE_PRODUCT;
    if (n->multiplies) {
        MW_TRY(find_tiles(n, job, err));
        MW_TRY(check_rows(n, err));
    } else if (n->activation == ACTIVATION_TABLE) {
        MW_TRY(find_table(n, job, err));
    }
    return spend(n, job, err);
}

mw_status mw__chip_run_neural(mw__chip_job *job, mw_error *err)
{
    neural n = {0};
    mw_status status = prepare_neural(&n, job, err);
    if (status == MW_OK)
        status = take_room(&n, job, err);
    if (status == MW_OK)
        status = run_channels(&n, job, err);
    free_room(&n, job->machine->allocator);
    return status;
}
