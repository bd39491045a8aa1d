/* Memory and time of a program, from its plan. */
#include "base/text/error.h"
#include "view/markup.h"
#include "view/plot.h"
#include "view/report.h"
#include "view/summary.h"

#include <string.h>

enum { WIDTH = 900, HEIGHT = 180, LEFT = 70, BOTTOM = 26, LISTED = 15 };

/* ---- totals ---- */

static void put_bytes_row(mw__text *out, const char *key, uint64_t bytes)
{
    mw__text value;
    mw__text_init(&value, NULL);
    mw__put_bytes(&value, bytes);
    mw__page_row(out, key, value.data != NULL ? value.data : "");
    mw__text_deinit(&value);
}

static void put_time(mw__text *out, double ns)
{
    const double scaled = ns >= 1e9 ? ns / 1e9 : ns >= 1e6 ? ns / 1e6 : ns / 1e3;
    mw__put_fixed(out, scaled, scaled >= 100.0 ? 0 : scaled >= 10.0 ? 1 : 2);
    mw__text_puts(out, ns >= 1e9 ? " s" : ns >= 1e6 ? " ms" : " us");
}

static void put_totals(const mw_plan_totals *t, mw__text *out)
{
    mw__text value;
    mw__text_puts(out, "<table class=\"pairs\"><tbody>\n");
    mw__page_row(out, "where", t->where);
    mw__text_init(&value, NULL);
    mw__text_printf(&value, "%zu in %zu phases, %zu threads%s", t->step_count, t->phase_count, t->threads,
                    t->team ? "" : " (one does all)");
    mw__page_row(out, "steps", value.data != NULL ? value.data : "");
    value.size = 0;
    mw__put_flops(&value, t->flops, t->unknown_flops);
    mw__page_row(out, "flop", value.data != NULL ? value.data : "");
    if (t->time.runs > 0) {
        value.size = 0;
        put_time(&value, t->time.median_ns);
        mw__page_row(out, "median time of a run", value.data != NULL ? value.data : "");
    }
    mw__text_deinit(&value);
    put_bytes_row(out, "intermediates at once", t->intermediate_bytes);
    put_bytes_row(out, "ports", t->port_bytes);
    put_bytes_row(out, "constants", t->constant_bytes);
    put_bytes_row(out, "working memory of kernels", t->scratch_bytes);
    mw__text_puts(out, "</tbody></table>\n");
}

/* ---- memory over the steps ---- */

/* Bytes of intermediates that live at each step; buffers that share memory count once. */
static mw_status measure_alive(const mw__report *r, const mw_plan *plan, size_t steps, uint64_t *alive)
{
    const size_t buffers = mw_plan_get_totals(plan).buffer_count;
    int64_t *change = mw__arena_alloc(r->arena, steps + 2, sizeof *change, r->err);
    if (change == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < buffers; i++) {
        mw_plan_buffer b;
        if (!mw_plan_buffer_at(plan, i, &b) || b.kind != MW_PLAN_INTERMEDIATE || !b.used || b.last_step >= steps ||
            b.bytes > (uint64_t)INT64_MAX / 4)
            continue;
        change[b.first_step] += (int64_t)b.bytes;
        change[b.last_step + 1] -= (int64_t)b.bytes;
    }
    int64_t sum = 0;
    for (size_t i = 0; i < steps; i++) {
        sum += change[i];
        alive[i] = sum > 0 ? (uint64_t)sum : 0;
    }
    return MW_OK;
}

static void put_axis(const mw__plot_scale *y, mw__text *out)
{
    for (size_t i = 0; i < y->tick_count; i++) {
        const double at = mw__plot_scale_at(y, y->ticks[i]);
        mw__text_puts(out, "<line class=\"grid\"");
        mw__put_attribute(out, "x1", LEFT);
        mw__put_attribute(out, "x2", WIDTH - 10);
        mw__put_attribute(out, "y1", at);
        mw__put_attribute(out, "y2", at);
        mw__text_puts(out, "/><text text-anchor=\"end\" class=\"dim\" font-size=\"10\"");
        mw__put_attribute(out, "x", LEFT - 6);
        mw__put_attribute(out, "y", at + 3.5);
        mw__text_puts(out, ">");
        mw__put_bytes(out, (uint64_t)(y->ticks[i] > 0.0 ? y->ticks[i] : 0.0));
        mw__text_puts(out, "</text>\n");
    }
}

static void put_area(const uint64_t *alive, size_t steps, const mw__plot_scale *y, mw__text *out)
{
    const double width = (WIDTH - 10.0 - LEFT) / (double)steps;
    const size_t every = steps / 2000 + 1; /* the largest of so many stands for them */
    mw__text_puts(out, "<path class=\"area\" d=\"M");
    mw__put_fixed(out, LEFT, 1);
    mw__text_puts(out, " ");
    mw__put_fixed(out, y->from, 1);
    for (size_t i = 0; i < steps; i += every) {
        uint64_t most = 0;
        for (size_t k = i; k < steps && k < i + every; k++)
            most = alive[k] > most ? alive[k] : most;
        mw__text_puts(out, "V");
        mw__put_fixed(out, mw__plot_scale_at(y, (double)most), 1);
        mw__text_puts(out, "H");
        mw__put_fixed(out, LEFT + width * (double)(i + every < steps ? i + every : steps), 1);
    }
    mw__text_puts(out, "V");
    mw__put_fixed(out, y->from, 1);
    mw__text_puts(out, "z\"/>\n");
}

static mw_status put_memory(const mw__report *r, const mw_plan *plan)
{
    const size_t steps = mw_plan_get_totals(plan).step_count;
    uint64_t *alive = mw__arena_alloc(r->arena, steps + 1, sizeof *alive, r->err), most = 1;
    if (alive == NULL)
        return MW_ERROR_MEMORY;
    if (steps == 0)
        return MW_OK;
    MW_TRY(measure_alive(r, plan, steps, alive));
    for (size_t i = 0; i < steps; i++)
        most = alive[i] > most ? alive[i] : most;
    const mw__plot_scale y = mw__plot_scale_make(0.0, (double)most, false, HEIGHT - BOTTOM, 12, 34);
    mw__text_printf(r->out,
                    "<figure><svg xmlns=\"http://www.w3.org/2000/svg\" class=\"memory\" role=\"img\" width=\"%d\" "
                    "height=\"%d\" viewBox=\"0 0 %d %d\">\n",
                    WIDTH, HEIGHT, WIDTH, HEIGHT);
    put_axis(&y, r->out);
    put_area(alive, steps, &y, r->out);
    mw__text_printf(r->out,
                    "<text class=\"dim\" font-size=\"10\" x=\"%d\" y=\"%d\">intermediates that live at each of "
                    "%zu steps</text></svg></figure>\n",
                    LEFT, HEIGHT - 8, steps);
    return MW_OK;
}

/* ---- the steps that take longest ---- */

static double weight_of(const mw_plan_step *s, bool timed)
{
    return timed ? s->time.median_ns : s->flops > 0.0 ? s->flops : (double)(s->bytes_read + s->bytes_written) / 16.0;
}

static size_t find_heaviest(const mw_plan *plan, bool timed, size_t best[LISTED])
{
    const size_t steps = mw_plan_get_totals(plan).step_count;
    double weights[LISTED];
    size_t count = 0;
    for (size_t i = 0; i < steps; i++) {
        mw_plan_step s;
        if (!mw_plan_step_at(plan, i, &s))
            continue;
        const double weight = weight_of(&s, timed);
        if (count == LISTED && weight <= weights[LISTED - 1])
            continue;
        size_t at = count < LISTED ? count++ : LISTED - 1;
        for (; at > 0 && weights[at - 1] < weight; at--) {
            weights[at] = weights[at - 1];
            best[at] = best[at - 1];
        }
        weights[at] = weight;
        best[at] = i;
    }
    return count;
}

static void put_operations(const mw_plan_step *s, mw__text *out)
{
    for (size_t i = 0; i < s->operation_count && i < 4; i++) {
        mw__text_puts(out, i > 0 ? ", " : "");
        mw__put_escaped(out, s->operations[i].kind, 40);
        mw__text_puts(out, " ");
        mw__put_escaped(out, s->operations[i].name, 48);
    }
    if (s->operation_count > 4)
        mw__text_printf(out, " and %zu", s->operation_count - 4);
}

static void put_step(const mw_plan_step *s, bool timed, mw__text *out)
{
    mw__text_puts(out, "<tr><td>");
    mw__put_escaped(out, s->kernel, 40);
    mw__text_puts(out, s->implementation[0] != '\0' ? ", " : "");
    mw__put_escaped(out, s->implementation, 40);
    mw__text_puts(out, "</td><td>");
    put_operations(s, out);
    mw__text_puts(out, "</td><td class=\"n\">");
    if (timed)
        put_time(out, s->time.median_ns);
    mw__text_puts(out, "</td><td class=\"n\">");
    mw__put_flops(out, s->flops, s->flops < 0.0);
    mw__text_puts(out, "</td><td class=\"n\">");
    mw__put_bytes(out, s->bytes_read + s->bytes_written);
    mw__text_puts(out, "</td></tr>\n");
}

static void put_heaviest(const mw__report *r, const mw_plan *plan)
{
    size_t best[LISTED];
    const bool timed = mw_plan_get_totals(plan).time.runs > 0;
    const size_t count = find_heaviest(plan, timed, best);
    mw__text_printf(r->out,
                    "<h3>%s</h3><table><thead><tr><th>kernel</th><th>operations</th><th class=\"n\">%s</th><th "
                    "class=\"n\">flop</th><th class=\"n\">bytes</th></tr></thead><tbody>\n",
                    timed ? "Steps that take longest" : "Steps with most work", timed ? "median time" : "");
    for (size_t i = 0; i < count; i++) {
        mw_plan_step s;
        if (mw_plan_step_at(plan, best[i], &s))
            put_step(&s, timed, r->out);
    }
    mw__text_puts(r->out, "</tbody></table>\n");
}

mw_status mw__page_plan(const mw__report *r, const mw_plan *plan)
{
    const mw_plan_totals t = mw_plan_get_totals(plan);
    mw__section(r->out, "Memory and time");
    put_totals(&t, r->out);
    MW_TRY(put_memory(r, plan));
    put_heaviest(r, plan);
    mw__section_end(r->out);
    return MW_OK;
}
