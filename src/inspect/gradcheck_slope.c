/* Differences of y in a gradient check, and where they mean something: between kinks. */
#include "inspect/gradcheck_object.h"

#include <string.h>

/* How often a step is halved: until two agree, and until it crosses no kink. */
enum { HALVINGS = 4, SMALLEST = 10 };

/* ---- differences ---- */

double mw__gradcheck_displacement(const mw__gradcheck_variable *v, size_t i, double h)
{
    return h * fmax(fabs((double)v->at[i]), 0.25);
}

static void move(mw__gradcheck_variable *v, size_t i, double by) { v->moved[i] = (float)((double)v->at[i] + by); }

mw_status mw__gradcheck_write_moved(mw__checker *c, mw_program *program, const mw__gradcheck_place *p, double h)
{
    for (size_t k = 0; k < c->options->count; k++) {
        mw__gradcheck_variable *v = &c->variables[k];
        if (p->of != NULL && p->of != v)
            continue;
        for (size_t i = 0; !mw__gradcheck_is_element(p) && i < v->count; i++)
            move(v, i, (double)v->direction[i] * mw__gradcheck_displacement(v, i, h));
        if (mw__gradcheck_is_element(p))
            move(v, p->index, mw__gradcheck_displacement(v, p->index, h));
        MW_TRY(mw_program_write(program, v->name, MW_F32, v->moved, v->count, c->err));
    }
    return MW_OK;
}

mw_status mw__gradcheck_evaluate(mw__checker *c, const mw__gradcheck_place *p, double h, float *out)
{
    MW_TRY(mw__gradcheck_write_moved(c, c->forward, p, h));
    MW_TRY(mw_program_run(c->forward, c->err));
    return mw_program_read(c->forward, "gradcheck.y", MW_F32, out, c->y_count, c->err);
}

mw_status mw__gradcheck_restore(mw__checker *c, mw_program *program)
{
    for (size_t k = 0; k < c->options->count; k++) {
        mw__gradcheck_variable *v = &c->variables[k];
        memcpy(v->moved, v->at, v->count * sizeof(float));
        MW_TRY(mw_program_write(program, v->name, MW_F32, v->at, v->count, c->err));
    }
    return MW_OK;
}

/* By how much an element really moves from -h to h, as fp32 holds it. */
static double distance(const mw__gradcheck_place *p, double h)
{
    const double by = mw__gradcheck_displacement(p->of, p->index, h), at = (double)p->of->at[p->index];
    return (double)(float)(at + by) - (double)(float)(at - by);
}

/* (y(h) - y(-h)) / distance, and the noise of that: roundings of those elements of y that moved, now or by a longer
 * step. If none did, the largest hides the most. */
static double quotient(mw__checker *c, const float *below, const float *above, double distance, double *out_noise)
{
    double sum = 0.0, size = 0.0, largest = 0.0;
    bool moves = false;
    for (size_t i = 0; i < c->y_count; i++) {
        const double u = (double)c->u[i], a = (double)above[i], b = (double)below[i];
        const double own = fabs(u) * (fabs(a) + fabs(b));
        sum += u * (a - b);
        c->touched[i] = c->touched[i] != 0 || a != b;
        moves = moves || c->touched[i] != 0;
        size += c->touched[i] != 0 ? own : 0.0;
        largest = fmax(largest, own);
    }
    *out_noise = 16.0 * c->unit * (moves ? size : largest) / distance;
    return sum / distance;
}

/* By the steps h and h / 2. */
static mw_status differentiate_at(mw__checker *c, const mw__gradcheck_place *p, double h, mw__gradcheck_slope *out)
{
    double by[2], noise[2];
    for (int k = 0; k < 2; k++) {
        const double step = k == 0 ? h : 0.5 * h;
        MW_TRY(mw__gradcheck_evaluate(c, p, -step, c->values[2 * k]));
        MW_TRY(mw__gradcheck_evaluate(c, p, step, c->values[2 * k + 1]));
        const double along = mw__gradcheck_is_element(p) ? distance(p, step) : 2.0 * step;
        by[k] = quotient(c, c->values[2 * k], c->values[2 * k + 1], along, &noise[k]);
    }
    out->settled = fabs(by[1] - by[0]) <= 4.0 * c->tolerance * fabs(by[1]) + noise[1];
    out->value = (4.0 * by[1] - by[0]) / 3.0;
    out->noise = 2.0 * noise[1];
    return MW_OK;
}

mw_status mw__gradcheck_differentiate(mw__checker *c, const mw__gradcheck_place *p, mw__gradcheck_slope *out)
{
    *out = (mw__gradcheck_slope){.settled = false};
    memset(c->touched, 0, c->y_count);
    for (int i = 0; i <= HALVINGS && !out->settled; i++)
        MW_TRY(differentiate_at(c, p, ldexp(c->step, -i), out));
    return mw__gradcheck_restore(c, c->forward);
}

/* ---- kinks ---- */

mw_status mw__gradcheck_prepare_decisions(mw__checker *c)
{
    if (c->has_decisions)
        return MW_OK;
    const mw_gradcheck_options *o = c->options;
    MW_TRY(mw__decisions_init(&c->decisions, &c->arena, c->graph, c->x, o->count, &o->compile, o->batch, c->err));
    c->has_decisions = true;
    if (c->decisions.program == NULL)
        return MW_OK;
    MW_TRY(mw__gradcheck_restore(c, c->decisions.program));
    return mw__decisions_read(&c->decisions, &c->decided, c->err);
}

/* True if everything at x - h and x + h is decided as at x. */
static mw_status is_smooth(mw__checker *c, const mw__gradcheck_place *p, double h, bool *out)
{
    *out = true;
    for (int sign = -1; sign <= 1 && *out; sign += 2) {
        uint64_t decided = 0;
        MW_TRY(mw__gradcheck_write_moved(c, c->decisions.program, p, (double)sign * h));
        MW_TRY(mw__decisions_read(&c->decisions, &decided, c->err));
        *out = decided == c->decided;
    }
    return MW_OK;
}

mw_status mw__gradcheck_differentiate_between(mw__checker *c, const mw__gradcheck_place *p, mw__gradcheck_slope *out)
{
    bool wide = false, narrow = false;
    MW_TRY(mw__gradcheck_prepare_decisions(c));
    if (c->decisions.program == NULL)
        return MW_OK;
    MW_TRY(is_smooth(c, p, c->step, &narrow));
    for (int i = 0; i <= SMALLEST; i++) {
        wide = narrow;
        MW_TRY(is_smooth(c, p, ldexp(c->step, -i - 1), &narrow));
        out->settled = false;
        if (wide && narrow)
            MW_TRY(differentiate_at(c, p, ldexp(c->step, -i), out));
        if (out->settled)
            break;
    }
    MW_TRY(mw__gradcheck_restore(c, c->decisions.program));
    return mw__gradcheck_restore(c, c->forward);
}
