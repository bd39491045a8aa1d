/* What the rest of the library asks of an optimizer's row: states, scalars, the update. The rows are in
 * optimizer_<name>.c, listed in optimizers.def; the numbers in optimizer_numbers.c. That of a custom one has a rule of
 * the user's beside it (optimizer_custom.c). */
#include "autograd/optimizers/optimizer_custom.h"
#include "autograd/optimizers/optimizer_update.h"
#include "base/text/error.h"

#include <math.h>
#include <string.h>

static const mw__optimizer_row *const rows[] = {
#define MW_OPTIMIZER(kind, row) [kind] = &mw__optimizer_##row,
#include "autograd/optimizers/optimizers.def"
#undef MW_OPTIMIZER
};

/* That of a matrix has the scalars of other parameters. */
static const mw__optimizer_form *scalars_of(const mw__optimizer *o, bool half)
{
    const mw__optimizer_row *row = rows[o->kind];
    return mw__optimizer_dithers(o, half) && row->dithered.update != NULL ? &row->dithered : &row->usual;
}

static const mw__optimizer_form *form_of(const mw__optimizer *o, unsigned of)
{
    const mw__optimizer_form *matrix = &rows[o->kind]->matrix;
    return (of & MW__OF_MATRIX) != 0 && matrix->update != NULL ? matrix : scalars_of(o, (of & MW__OF_HALF) != 0);
}

mw_shape mw__optimizer_matrix(mw_shape shape)
{
    const int64_t rows_of = shape.rank > 0 ? shape.dim[0] : 1, count = mw_shape_count(shape);
    return MW_SHAPE(rows_of, rows_of > 0 ? count / rows_of : 0);
}

/* A matrix has two sides: [1, 8] is a vector. */
static unsigned set_of(mw_shape shape, bool half)
{
    const mw_shape matrix = mw__optimizer_matrix(shape);
    return (half ? MW__OF_HALF : 0u) | (matrix.dim[0] > 1 && matrix.dim[1] > 1 ? MW__OF_MATRIX : 0u);
}

static const char *const role_names[MW__ROLE_COUNT] = {
    [MW__ROLE_MOMENTUM] = "momentum",  [MW__ROLE_M] = "m",       [MW__ROLE_V] = "v",
    [MW__ROLE_MEAN] = "mean",          [MW__ROLE_ROOT] = "root", [MW__ROLE_ROOT_LOW] = "root_low",
    [MW__ROLE_LOW] = MW__OPTIMIZER_LOW};

const char *mw__optimizer_kind_name(mw__optimizer_kind kind)
{
    const int count = (int)(sizeof rows / sizeof *rows);
    return (int)kind > MW__OPTIMIZER_NONE && (int)kind < count ? rows[kind]->name : NULL;
}

bool mw__optimizer_needs_whole(const mw__optimizer *o)
{
    return o->rule != NULL || (mw__optimizer_kind_name(o->kind) != NULL && rows[o->kind]->matrix.update != NULL);
}

bool mw__optimizer_has(mw__optimizer_kind kind, mw_optimizer_number number)
{
    return mw__optimizer_kind_name(kind) != NULL && (rows[kind]->numbers >> number & 1u) != 0;
}

/* ---- the value of the user ---- */

_Static_assert(sizeof(mw__optimizer) <= sizeof(mw_optimizer), "it holds one");

mw__optimizer mw__optimizer_of(const mw_optimizer *optimizer)
{
    mw__optimizer o;
    memcpy(&o, optimizer, sizeof o);
    return o;
}

mw_optimizer mw__optimizer_hide(const mw__optimizer *optimizer)
{
    mw_optimizer hidden = {{0}};
    memcpy(&hidden, optimizer, sizeof *optimizer);
    return hidden;
}

mw__optimizer mw__optimizer_begin(mw__optimizer_kind kind, float learning_rate)
{
    mw__optimizer o = rows[kind]->start;
    o.kind = kind;
    o.learning_rate = learning_rate;
    return o;
}

void mw__optimizer_set_adamw(mw__optimizer *o)
{
    o->kind = MW__ADAM;
    o->momentum = 0.0f;
    o->nesterov = o->match_rms = false;
}

const char *mw_optimizer_name(const mw_optimizer *optimizer)
{
    const char *name = optimizer != NULL ? mw__optimizer_kind_name(mw__optimizer_of(optimizer).kind) : NULL;
    return name != NULL ? name : "?";
}

/* ---- what a row says ---- */

double mw__optimizer_epsilon(const mw__optimizer *optimizer) { return rows[optimizer->kind]->epsilon; }

/* Of Adagrad's sum of squares, in the scale of the gradients. */
static double initial_root(const mw__optimizer *o, double loss_scale)
{
    return sqrt((double)o->initial_accumulator) * loss_scale;
}

static bool has_role(const mw__optimizer *o, unsigned of, int role)
{
    const unsigned set = form_of(o, of)->roles(o) | (o->compensated ? MW__ROLE_BIT(LOW) : 0u);
    return (set >> role & 1u) != 0;
}

size_t mw__optimizer_state_count(const mw__optimizer *optimizer, unsigned of)
{
    size_t count = 0;
    for (int role = 0; role < MW__ROLE_COUNT; role++)
        count += has_role(optimizer, of, role);
    return count;
}

/* States are counted in the order of their roles. */
mw__optimizer_role mw__optimizer_role_at(const mw__optimizer *o, unsigned of, size_t index)
{
    int role = 0;
    for (size_t before = 0; !has_role(o, of, role) || before++ < index;)
        role++;
    return (mw__optimizer_role)role;
}

double mw__optimizer_reach(const mw__optimizer *optimizer, double loss_scale)
{
    return rows[optimizer->kind]->reach(optimizer, loss_scale);
}

const char *mw__optimizer_state_name(const mw__optimizer *optimizer, unsigned of, size_t index)
{
    return role_names[mw__optimizer_role_at(optimizer, of, index)];
}

double mw__optimizer_state_initial(const mw__optimizer *optimizer, unsigned of, size_t index, double loss_scale)
{
    return mw__optimizer_role_at(optimizer, of, index) == MW__ROLE_ROOT ? initial_root(optimizer, loss_scale) : 0.0;
}

mw_status mw__optimizer_states_of(const mw__optimizer *o, const mw_update_parameter *of, double loss_scale,
                                  bool bounded, mw__arena *arena, mw__optimizer_states *out, mw_error *err)
{
    if (o->rule != NULL)
        return mw__optimizer_rule_states(o->rule, of, arena, out, err);
    const unsigned set = set_of(of->shape, of->half);
    out->count = mw__optimizer_state_count(o, set);
    for (size_t i = 0; i < out->count; i++) {
        mw__optimizer_state *state = &out->items[i];
        *state = (mw__optimizer_state){.name = mw__optimizer_state_name(o, set, i),
                                       .shape = of->shape,
                                       .initial = mw__optimizer_state_initial(o, set, i, loss_scale)};
        mw__optimizer_state_range(o, set, i, loss_scale, bounded, &state->least, &state->most);
    }
    return MW_OK;
}

mw_status mw__optimizer_keep(mw__optimizer *optimizer, mw__arena *arena, mw_error *err)
{
    if (optimizer->rule == NULL)
        return MW_OK;
    optimizer->rule = mw__optimizer_rule_copy(optimizer->rule, arena, err);
    return optimizer->rule != NULL ? MW_OK : MW_ERROR_MEMORY;
}

size_t mw__optimizer_scalar_count(const mw__optimizer *optimizer, bool half)
{
    if (optimizer->rule != NULL)
        return optimizer->rule->scalar_count;
    size_t count = 0;
    while (count < MW__OPTIMIZER_SCALARS && scalars_of(optimizer, half)->scalars[count].name != NULL)
        count++;
    bool decays = optimizer->decoupled && optimizer->weight_decay != 0.0f;
    return decays ? count : count - 1;
}

const char *mw__optimizer_scalar_name(const mw__optimizer *optimizer, bool half, size_t index)
{
    return optimizer->rule != NULL ? optimizer->rule->scalars[index].name
                                   : scalars_of(optimizer, half)->scalars[index].name;
}

double mw__optimizer_scalar_value(const mw__optimizer *optimizer, bool half, size_t index, double loss_scale,
                                  double learning_rate, int64_t step)
{
    if (optimizer->rule != NULL)
        return mw__optimizer_rule_number(optimizer->rule, index,
                                         &(mw_update_moment){.step = step,
                                                             .learning_rate = learning_rate,
                                                             .weight_decay = (double)optimizer->weight_decay,
                                                             .loss_scale = loss_scale,
                                                             .half = half});
    const mw__moment now = {.optimizer = optimizer, .rate = learning_rate, .loss_scale = loss_scale, .step = step};
    return scalars_of(optimizer, half)->scalars[index].value(&now);
}

mw_status mw__optimizer_apply(const mw__optimizer_request *r, mw_tensor **out_p, mw_tensor **out_state, mw_error *err)
{
    if (r->optimizer->rule != NULL)
        return mw__optimizer_rule_apply(r, out_p, out_state, err);
    mw__optimizer_update u = {.optimizer = r->optimizer, .scalars = r->scalars, .p = r->p, .gradient = r->gradient};
    const unsigned set = set_of(mw_tensor_shape(r->p), r->scalars->half);
    for (size_t i = 0; i < r->state_count; i++)
        u.state[mw__optimizer_role_at(r->optimizer, set, i)] = r->state[i];
    mw__update_parameter(&u, form_of(r->optimizer, set)->update(&u));
    *out_p = u.new_p;
    for (size_t i = 0; i < r->state_count; i++)
        out_state[i] = u.new_state[mw__optimizer_role_at(r->optimizer, set, i)];
    return mw_graph_check(r->graph, err);
}

/* ---- epsilon ---- */

/* In fp16 an epsilon that is not far above the least number, 2^-24, would be 0 itself, and the rest that rounding
 * leaves of a mean of nothing, 5 * 2^-24, would count. The program has it times the loss scale. */
#define HALF_EPSILON 2e-6

void mw__optimizer_set_epsilon(mw__optimizer *optimizer, bool half, double loss_scale)
{
    const double single = mw__optimizer_epsilon(optimizer);
    if (single != 0.0 && optimizer->epsilon == 0.0f)
        optimizer->epsilon = (float)(half ? fmax(single, HALF_EPSILON / loss_scale) : single);
}
