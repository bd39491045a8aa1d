/* Every family against PyTorch: random cases recorded in data/torch/<family>.safetensors by <family>_cases.py beside
 * it. A case is a MIL text with its inputs, its result and, seeded with a cotangent, its gradients
 * (data/torch/record.py). Every row of the operation table occurs in the recordings of its family, and if it has a
 * gradient, in a case that has one; `unrecorded` of its family (tests/support) says which do not, and why. */
#include "support/cases/op_cases.h"
#include "support/check.h"
#include "support/on_engine.h"

#include "autograd/vjp/rules.h"
#include "base/number/number.h"
#include "base/text/error.h"
#include "format/tensors/safetensors.h"
#include "graph/ir/ir.h"
#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>

#define INPUTS 12

typedef struct record {
    mw__safetensors file;
    const char *family;
    double tolerance;
    long count;
} record;

static const mw__safetensors_tensor *find(const record *r, long index, const char *prefix, const char *name)
{
    char key[96];
    snprintf(key, sizeof key, "%ld.%s%s", index, prefix, name);
    return mw__safetensors_find(&r->file, key);
}

/* A recorded tensor's bytes, freed by the caller; NULL with err set. */
static void *load(const record *r, const mw__safetensors_tensor *tensor, mw_error *err)
{
    void *data = tensor != NULL ? calloc(1, tensor->size + 1) : NULL;
    if (data != NULL)
        mw__safetensors_read(&r->file, tensor, data, err);
    return data;
}

static double element(const void *data, mw_dtype dtype, int64_t i)
{
    if (dtype == MW_F32)
        return (double)((const float *)data)[i];
    return dtype == MW_I32 ? (double)((const int32_t *)data)[i] : (double)((const uint8_t *)data)[i];
}

/* A case while it is checked. */
typedef struct recorded_case {
    const record *record;
    long index;
    mw_graph *graph;
    mw_tensor *in[INPUTS], *dx[INPUTS]; /* dx[i] is NULL where PyTorch gave none */
    size_t count;
    mw_program *program;
} recorded_case;

static void feed(recorded_case *c, const char *name, mw_error *err)
{
    const mw__safetensors_tensor *tensor = find(c->record, c->index, "", name);
    void *data = load(c->record, tensor, err);
    if (data != NULL)
        mw_program_write(c->program, name, tensor->dtype, data, (size_t)mw_shape_count(tensor->shape), err);
    free(data);
}

/* What PyTorch's own gradients lose: 1 - tanh^2 of fp32 is off by 2^-24 however small it is. As a share of dy. */
static double lost_by_torch(const recorded_case *c, const char *prefix)
{
    const mw__block *body = mw__graph_main(c->graph)->body;
    for (size_t i = 0; i < body->op_count && prefix[0] == 'd'; i++)
        if (strcmp(body->ops[i]->kind, "scaled_tanh") == 0) {
            double alpha = 0.0, beta = 0.0;
            mw__arg_float(body->ops[i], "alpha", &alpha);
            mw__arg_float(body->ops[i], "beta", &beta);
            return fabs(alpha * beta) * 0x1p-24;
        }
    return 0.0;
}

static double largest_of(const recorded_case *c, const char *prefix, const char *name, mw_error *err)
{
    const mw__safetensors_tensor *tensor = find(c->record, c->index, prefix, name);
    void *data = load(c->record, tensor, err);
    double largest = 0.0;
    const int64_t count = data != NULL ? mw_shape_count(tensor->shape) : 0;
    for (int64_t i = 0; i < count; i++)
        if (isfinite(element(data, tensor->dtype, i)))
            largest = fmax(largest, fabs(element(data, tensor->dtype, i)));
    free(data);
    return largest;
}

/* Port `port` against the record `prefix``name`: by the tolerance of the family for floats, exactly for the rest. */
static void compare(recorded_case *c, const char *port, const char *prefix, const char *name, mw_error *err)
{
    const mw__safetensors_tensor *tensor = find(c->record, c->index, prefix, name);
    void *wanted = load(c->record, tensor, err);
    const void *got = mw_program_view(c->program, port, err);
    if (wanted == NULL || got == NULL)
        mw__fail(err, MW_ERROR_STATE, "no %s%s to compare", prefix, name);
    const int64_t count = mw__failed(err) ? 0 : mw_shape_count(tensor->shape);
    double allowed = 0.0;
    if (count > 0 && tensor->dtype == MW_F32) {
        const double lost = lost_by_torch(c, prefix);
        allowed = c->record->tolerance * largest_of(c, prefix, name, err) + 1e-30;
        allowed += lost > 0.0 ? lost * largest_of(c, "", "dy", err) : 0.0;
    }
    for (int64_t i = 0; i < count && !mw__failed(err); i++) {
        const double a = element(got, tensor->dtype, i), b = element(wanted, tensor->dtype, i);
        if (a != b && !(fabs(a - b) <= allowed) && !(isnan(a) && isnan(b)))
            mw__fail(err, MW_ERROR_STATE, "%s%s[%lld] is %.9g, PyTorch's %.9g (allowed %.2g)", prefix, name,
                     (long long)i, a, b, allowed);
    }
    free(wanted);
}

/* Adds the gradient of y seeded with dy; nothing where the record has no dy. */
static void differentiate(recorded_case *c, mw_error *err)
{
    mw_tensor *wanted[INPUTS], *gradients[INPUTS], *y = mw_graph_find(c->graph, "y");
    size_t from[INPUTS], count = 0;
    for (size_t i = 0; i < c->count; i++)
        if (find(c->record, c->index, "d", mw_tensor_name(c->in[i])) != NULL) {
            from[count] = i;
            wanted[count++] = c->in[i];
        }
    if (count == 0)
        return;
    mw_tensor *dy = mw_input(c->graph, "dy", MW_F32, mw_tensor_shape(y));
    if (mw_backward(&(mw_pullback){.roots = &y, .seeds = &dy, .root_count = 1}, wanted, count, gradients, err) != MW_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        char name[96];
        snprintf(name, sizeof name, "d.%s", mw_tensor_name(wanted[i]));
        c->dx[from[i]] = mw_output(gradients[i], name);
    }
}

static void run(recorded_case *c, mw_error *err)
{
    c->program = engine_compile(c->graph, MW_DEVICE_CPU, 1, err);
    for (size_t i = 0; i < c->count && c->program != NULL; i++)
        feed(c, mw_tensor_name(c->in[i]), err);
    if (c->program != NULL && mw_graph_find(c->graph, "dy") != NULL)
        feed(c, "dy", err);
    if (c->program == NULL || mw_program_run(c->program, err) != MW_OK)
        return;
    compare(c, "y", "", "y", err);
    for (size_t i = 0; i < c->count; i++) {
        char port[96];
        snprintf(port, sizeof port, "d.%s", mw_tensor_name(c->in[i]));
        if (c->dx[i] != NULL)
            compare(c, port, "d", mw_tensor_name(c->in[i]), err);
    }
}

static void check_case(const record *r, long index)
{
    char key[40];
    mw_error err = {0};
    snprintf(key, sizeof key, "program.%ld", index);
    const char *text = mw__safetensors_metadata(&r->file, key);
    recorded_case c = {.record = r, .index = index};
    c.graph = text != NULL ? mw_graph_parse_mil(text, strlen(text), NULL, NULL, &err) : NULL;
    if (c.graph != NULL && mw_graph_verify(c.graph, &err) == MW_OK) {
        const mw__block *body = mw__graph_main(c.graph)->body;
        if (body->input_count > INPUTS)
            mw__fail(&err, MW_ERROR_STATE, "%zu inputs, room is for %d", body->input_count, INPUTS);
        for (size_t i = 0; i < body->input_count && c.count < INPUTS; i++)
            c.in[c.count++] = body->inputs[i];
        if (!mw__failed(&err))
            differentiate(&c, &err);
        if (!mw__failed(&err))
            run(&c, &err);
    }
    check_note(text != NULL && err.status == MW_OK, __FILE__, __LINE__, "%s case %ld: %s\n%s", r->family, index,
               err.message, text != NULL ? text : "");
    mw_program_destroy(c.program);
    mw_graph_destroy(c.graph);
}

/* ---- coverage ---- */

static bool is_exempt(const op_case_list *cases, const char *row)
{
    for (const op_unrecorded *u = cases->unrecorded; u != NULL && u->row != NULL; u++)
        if (strcmp(u->row, row) == 0)
            return true;
    return false;
}

/* Cases with that operation; with a gradient, if `gradient`. */
static long count_recorded(const record *r, const char *row, bool gradient)
{
    char key[40], call[80];
    long count = 0;
    snprintf(call, sizeof call, "= %s(", row);
    for (long i = 0; i < r->count; i++) {
        snprintf(key, sizeof key, "program.%ld", i);
        const char *text = mw__safetensors_metadata(&r->file, key);
        count += text != NULL && strstr(text, call) != NULL && (!gradient || find(r, i, "d", "y") != NULL);
    }
    return count;
}

static bool is_differentiable(const char *row)
{
    for (size_t i = 0; i < MW__OP_COUNT; i++)
        if (strcmp(mw__rows[i].name, row) == 0)
            return mw__vjp_find((mw__op_id)i) != NULL && mw__vjp_find((mw__op_id)i) != mw__vjp_zero;
    return false;
}

static void check_coverage(const record *r, const op_case_list *cases)
{
    for (size_t i = 0; i < cases->count; i++) {
        const char *row = cases->rows[i].name;
        const bool wanted = !is_exempt(cases, row), gradient = is_differentiable(row);
        check_note((count_recorded(r, row, gradient) > 0) == wanted, __FILE__, __LINE__, "%s: %s %s%s", r->family, row,
                   wanted ? "occurs in no recorded case" : "is recorded and needs no exemption",
                   wanted && gradient ? " with a gradient" : "");
    }
}

static bool has_recordings(const op_case_list *cases)
{
    for (size_t i = 0; i < cases->count; i++)
        if (!is_exempt(cases, cases->rows[i].name))
            return true;
    return false;
}

static void check_family(const op_case_list *cases, const char *path)
{
    record r = {.family = cases->family};
    mw_error err = {0};
    const bool open = mw__safetensors_open(&r.file, mw__allocator_default(), path, &err) == MW_OK;
    const char *tolerance = open ? mw__safetensors_metadata(&r.file, "tolerance") : NULL;
    const char *count = open ? mw__safetensors_metadata(&r.file, "count") : NULL;
    if (tolerance != NULL && count != NULL)
        mw__number_read(tolerance, strlen(tolerance), MW__NUMBER_F64, &r.tolerance);
    r.count = count != NULL ? strtol(count, NULL, 10) : 0;
    check_note(r.tolerance > 0.0 && r.count >= 200, __FILE__, __LINE__,
               "%s: %ld cases with tolerance %g; at least 200 are wanted: %s", r.family, r.count, r.tolerance,
               err.message);
    for (long i = 0; i < r.count; i++)
        check_case(&r, i);
    check_coverage(&r, cases);
    if (open)
        mw__safetensors_close(&r.file);
}

static void test_every_family_agrees_with_torch(void)
{
    static const op_case_list *const families[] = {
#define FAMILY(name) &op_cases_##name,
#include "support/cases/families.def"
#undef FAMILY
    };
    for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/data/torch/%s.safetensors", MW_TESTS_DIR, families[i]->family);
        if (has_recordings(families[i]))
            check_family(families[i], path);
    }
}

int main(void)
{
    RUN(test_every_family_agrees_with_torch);
    return check_finish();
}
