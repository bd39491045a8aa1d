/* Which example a value belongs to: for every operation of the table, what is said to belong to one example does not
 * change when the data of all others do, by the double-precision oracle. */
#include "graph/transform/batch/batch.h"
#include "support/cases/op_cases.h"
#include "support/check.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>

/* The data of one example come from the first instance, those of all others from the second. */
typedef struct trial {
    const op_case *c;
    op_instance one, other;
    oracle truth, mixed;
    const mw__function *main;
    mw__batch_rows *table; /* by value id */
    int64_t batch;
    size_t claims; /* results that belong to single examples */
} trial;

/* The example of element `index`. */
static int64_t owner(mw_shape shape, const mw__batch_rows *rows, int64_t batch, int64_t index)
{
    int64_t at[MW_RANK_MAX];
    oracle_unravel(shape, index, at);
    return at[rows->axis] / rows->inner % batch;
}

static void feed_mixed(trial *t, int64_t example)
{
    for (size_t i = 0; i < t->one.count; i++) {
        const mw_tensor *in = t->one.in[i];
        const mw__batch_rows *rows = &t->table[in->id];
        const int64_t count = oracle_count(in);
        double *data = malloc((size_t)(count + 1) * sizeof *data);
        for (int64_t k = 0; k < count; k++) {
            const bool own = rows->kind == MW__BATCH_NONE || owner(mw_tensor_shape(in), rows, t->batch, k) == example;
            data[k] = own ? t->one.data[i][k] : t->other.data[i][k];
        }
        oracle_set(&t->mixed, in, data);
        free(data);
    }
}

static void check_value(trial *t, const mw_tensor *value, int64_t example)
{
    const mw__batch_rows *rows = &t->table[value->id];
    const double *truth = oracle_get(&t->truth, value), *mixed = oracle_get(&t->mixed, value);
    if (rows->kind != MW__BATCH_ROWS || truth == NULL || mixed == NULL)
        return;
    for (int64_t k = 0; k < oracle_count(value); k++) {
        if (owner(mw_tensor_shape(value), rows, t->batch, k) != example)
            continue;
        if (memcmp(&truth[k], &mixed[k], sizeof *truth) != 0 && !(isnan(truth[k]) && isnan(mixed[k]))) {
            check_note(false, __FILE__, __LINE__,
                       "%s (%s): element %lld of %s depends on others than example %lld of %lld", t->c->name,
                       t->c->detail, (long long)k, value->op->kind, (long long)example, (long long)t->batch);
            return;
        }
    }
}

/* True if something is said of the operation that the case is about. */
static bool belongs(const trial *t)
{
    for (size_t i = 0; i < t->main->body->op_count; i++) {
        const mw__op *op = t->main->body->ops[i];
        if (strcmp(op->kind, t->c->name) == 0 && op->result_count > 0 &&
            t->table[op->results[0]->id].kind == MW__BATCH_ROWS)
            return true;
    }
    return false;
}

static void check_claims(trial *t)
{
    mw__batch_again(t->table, t->main, t->batch, false);
    if (!belongs(t))
        return;
    t->claims++;
    for (int64_t example = 0; example < t->batch; example++) {
        feed_mixed(t, example);
        if (!oracle_run(&t->mixed))
            return;
        for (size_t i = 0; i < t->main->body->op_count; i++)
            for (size_t r = 0; r < t->main->body->ops[i]->result_count; r++)
                check_value(t, t->main->body->ops[i]->results[r], example);
    }
}

/* Every way in which the inputs from `input` on can hold examples: not at all, or along one axis, `inner` rows each. */
static void try_inputs(trial *t, size_t input, bool some)
{
    if (input == t->one.count || input == OP_CASE_INPUTS) {
        if (some)
            check_claims(t);
        return;
    }
    const mw_shape shape = mw_tensor_shape(t->one.in[input]);
    mw__batch_rows *rows = &t->table[t->one.in[input]->id];
    *rows = (mw__batch_rows){.kind = MW__BATCH_NONE};
    try_inputs(t, input + 1, some);
    for (int axis = 0; axis < shape.rank; axis++) {
        for (int64_t inner = 1; t->batch * inner <= shape.dim[axis]; inner++) {
            if (shape.dim[axis] % (t->batch * inner) != 0)
                continue;
            *rows = (mw__batch_rows){.kind = MW__BATCH_ROWS, .axis = axis, .inner = inner};
            try_inputs(t, input + 1, true);
        }
    }
    *rows = (mw__batch_rows){.kind = MW__BATCH_NONE};
}

static size_t claims_of(const op_case *c)
{
    trial t = {.c = c};
    const bool built = op_instance_init(&t.one, c, MW_F32, 1);
    const bool both = op_instance_init(&t.other, c, MW_F32, 2) && built;
    if (both) {
        t.main = mw__graph_main(t.one.graph);
        t.table = calloc(t.one.graph->value_count, sizeof *t.table);
        oracle_init(&t.truth, t.one.graph);
        oracle_init(&t.mixed, t.one.graph);
        op_instance_feed(&t.one, &t.truth);
        static const int64_t batches[] = {2, 3, 5, 7};
        for (int i = 0; i < 4 && oracle_run(&t.truth); i++) {
            t.batch = batches[i];
            try_inputs(&t, 0, false);
        }
        oracle_deinit(&t.mixed);
        oracle_deinit(&t.truth);
        free(t.table);
    }
    op_instance_deinit(&t.other);
    op_instance_deinit(&t.one);
    return t.claims;
}

/* Makers of constants have no rows; the others are rare enough that nothing is lost if they count as mixing. */
static bool has_no_rule(const char *name)
{
    static const char *const names[] = {"const",          "fill",           "fill_like",
                                        "range_1d",       "shape",          "random_bernoulli",
                                        "random_normal",  "random_uniform", "random_categorical",
                                        "scatter",        "scatter_nd",     "scatter_along_axis",
                                        "slice_update",   "non_zero",       "space_to_batch",
                                        "batch_to_space", "while_loop",     "make_list",
                                        "list_length",    "read_state",     "write_state",
                                        "classify",       "conv_quantized"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strncmp(name, "constexpr_", 10) == 0;
}

static void test_what_belongs_to_one_example_depends_on_no_other(void)
{
    for (size_t r = 0; r < MW__OP_COUNT; r++) {
        const char *name = mw__rows[r].name;
        size_t claims = 0;
        const op_case *c;
        if (r > 0 && strcmp(name, mw__rows[r - 1].name) == 0)
            continue; /* the same operation in a later opset */
        for (size_t i = 0; (c = op_case_at(i)) != NULL; i++)
            if (strcmp(c->name, name) == 0)
                claims += claims_of(c);
        check_note((claims > 0) != has_no_rule(name), __FILE__, __LINE__, "%s: %zu results belong to single examples",
                   name, claims);
    }
}

int main(void)
{
    RUN(test_what_belongs_to_one_example_depends_on_no_other);
    return check_finish();
}
