/* The planar engine: final * operation(a * pre, b * scale + bias), element by element, rounded once. */
#include "base/number/bits.h"
#include "base/number/fp16.h"
#include "chip/task/run.h"

#include <inttypes.h>
#include <math.h>

typedef enum operation { ADD, MUL, MAX, MIN, SQUARED_SUM } operation;

typedef struct planar {
    operation what;
    float pre, scale, bias, final;
    bool negative; /* the second operand is subtracted */
    mw__chip_result kind;
    mw__arithmetic arithmetic;
} planar;

static float half_field(const mw__task *task, mw__field_id id)
{
    return mw__fp16_to_float((uint16_t)mw__task_field(task, id));
}

static planar read_planar(const mw__chip_job *job)
{
    const mw__task *task = job->task;
    const operation what = (operation)mw__task_field(task, MW__FIELD_pe_operation);
    return (planar){.what = what,
                    .pre = half_field(task, MW__FIELD_pe_pre),
                    .scale = half_field(task, MW__FIELD_pe_scale),
                    .bias = half_field(task, MW__FIELD_pe_bias),
                    .final = mw__float_of(mw__task_get(task, MW__REGISTER_pe_final_scale)),
                    .negative = mw__task_field(task, MW__FIELD_pe_second) == 3,
                    .kind = what == MUL ? MW__RESULT_MUL : MW__RESULT_OTHER,
                    .arithmetic = job->machine->arithmetic};
}

/* A NaN stays one, as in the engine's kernels. */
static float larger(float a, float b) { return a != a || a > b ? a : b; }
static float smaller(float a, float b) { return a != a || a < b ? a : b; }

static float apply(const planar *p, float a, float b)
{
    const float x = a * p->pre, second = b * p->scale + p->bias, y = p->negative ? -second : second;
    switch (p->what) {
    case ADD:
        return p->final * (x + y);
    case MUL:
        return p->final * (x * y);
    case MAX:
        return p->final * larger(x, y);
    case MIN:
        return p->final * smaller(x, y);
    case SQUARED_SUM:
        return p->final * ((x + y) * (x + y));
    }
    return 0.0f;
}

static void run_row(const mw__chip_job *job, const planar *p, int64_t c, int64_t y, uint16_t *out)
{
    const mw__chip_tile *a = &job->in[0], *b = &job->in[1];
    const uint8_t *from_a = a->data + c * a->plane + y * a->row, *from_b = b->data + c * b->plane + y * b->row;
    for (int64_t x = 0; x < job->out.width; x++) {
        const float left = mw__chip_load(job, a, from_a + 2 * x), right = mw__chip_load(job, b, from_b + 2 * x);
        out[x] = mw__chip_round(apply(p, left, right), p->kind, p->arithmetic);
    }
}

static mw_status check_extents(const mw__chip_job *job, mw_error *err)
{
    const mw__chip_tile *in = &job->in[0], *out = &job->out;
    if (in->channels == out->channels && in->height == out->height && in->width == out->width)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "a planar task from %" PRId64 " x %" PRId64 " x %" PRId64 " to %" PRId64 " x %" PRId64 " x %" PRId64
                    ": a reduction",
                    in->channels, in->height, in->width, out->channels, out->height, out->width);
}

mw_status mw__chip_run_planar(mw__chip_job *job, mw_error *err)
{
    const planar p = read_planar(job);
    uint16_t *out = job->result;
    MW_TRY(check_extents(job, err));
    MW_TRY(mw__chip_spend(job->machine, (uint64_t)(job->out.channels * job->out.height * job->out.width), err));
    for (int64_t c = 0; c < job->out.channels; c++)
        for (int64_t y = 0; y < job->out.height; y++, out += job->out.width)
            run_row(job, &p, c, y, out);
    return MW_OK;
}
