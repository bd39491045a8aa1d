/* A plan as text for people: totals, a line for each step, for each choice of an implementation, for each buffer. */
#include "base/file/file.h"
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "base/text/printable.h"
#include "base/text/text.h"
#include "inspect/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *mw__inspect_fixed(char out[MW__INSPECT_FIXED_MAX], double value, int decimals)
{
    uint64_t scale = 1;
    for (int i = 0; i < decimals; i++)
        scale *= 10;
    const double scaled = value * (double)scale + 0.5;
    const uint64_t whole = scaled < 1.8e19 ? (uint64_t)scaled : UINT64_MAX;
    if (decimals == 0)
        snprintf(out, MW__INSPECT_FIXED_MAX, "%llu", (unsigned long long)whole);
    else
        snprintf(out, MW__INSPECT_FIXED_MAX, "%llu.%0*llu", (unsigned long long)(whole / scale), decimals,
                 (unsigned long long)(whole % scale));
    return out;
}

/* ---- lines ---- */

typedef struct printer {
    mw_plan_line *line;
    void *user;
    char text[480];
    size_t used;
} printer;

static void put_printed(printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put_printed(printer *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    p->used += mw__printable_vprintf(p->text + p->used, sizeof p->text - p->used, format, arguments);
    va_end(arguments);
}

static void put_fixed(printer *p, int width, double value, int decimals)
{
    char number[MW__INSPECT_FIXED_MAX];
    put_printed(p, "%*s", width, mw__inspect_fixed(number, value, decimals));
}

/* "12.3 MB" */
static void put_bytes(printer *p, uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    int unit = 0;
    for (; value >= 1000.0 && unit < 4; unit++)
        value /= 1000.0;
    put_fixed(p, 0, value, unit > 0);
    put_printed(p, " %s", units[unit]);
}

static void end_line(printer *p)
{
    p->line(p->user, p->text);
    p->used = 0;
    p->text[0] = '\0';
}

/* ---- totals ---- */

static void print_totals(printer *p, const mw_plan_totals *t)
{
    put_printed(p, "%s", t->where);
    end_line(p);
    const bool alone = !t->team && t->threads > 1;
    put_printed(p, "%zu step%s in %zu phase%s %s %zu thread%s%s; a run reads ", t->step_count,
                t->step_count == 1 ? "" : "s", t->phase_count, t->phase_count == 1 ? "" : "s", alone ? "for" : "on",
                t->threads, t->threads == 1 ? "" : "s", alone ? ", run by one" : "");
    put_bytes(p, t->bytes_read);
    put_printed(p, ", writes ");
    put_bytes(p, t->bytes_written);
    put_printed(p, ", ");
    put_fixed(p, 0, 1e-6 * t->flops, 3);
    put_printed(p, " Mflop");
    if (t->unknown_flops > 0)
        put_printed(p, " and %zu steps without a number", t->unknown_flops);
    end_line(p);
    put_printed(p, "memory: ports ");
    put_bytes(p, t->port_bytes);
    put_printed(p, ", constants ");
    put_bytes(p, t->constant_bytes);
    put_printed(p, ", intermediates ");
    put_bytes(p, t->intermediate_bytes);
    put_printed(p, ", scratch ");
    put_bytes(p, t->scratch_bytes);
    end_line(p);
    if (t->time.runs == 0)
        return;
    put_printed(p, "measured: the last %zu of %llu runs, median ", t->time.runs, (unsigned long long)t->profiled_runs);
    put_fixed(p, 0, 1e-3 * t->time.median_ns, 3);
    put_printed(p, " us, least ");
    put_fixed(p, 0, 1e-3 * t->time.min_ns, 3);
    put_printed(p, " us");
    end_line(p);
}

/* ---- steps ---- */

enum { COLUMNS = 230 };

/* What fits into the line. */
static void put_operations(printer *p, const mw_plan_step *step)
{
    size_t i = 0;
    for (; i < step->operation_count && p->used < COLUMNS; i++)
        put_printed(p, "%s%s %.60s", i > 0 ? ", " : "", step->operations[i].kind, step->operations[i].name);
    if (i < step->operation_count)
        put_printed(p, " and %zu more", step->operation_count - i);
}

static void print_step(printer *p, const mw_plan_step *step, size_t index, bool measured)
{
    put_printed(p, "%4zu %5zu %7zu  %-26.60s", index, step->phase, step->threads, step->kernel);
    put_printed(p, "%12llu%12llu", (unsigned long long)step->bytes_read, (unsigned long long)step->bytes_written);
    if (step->flops < 0.0)
        put_printed(p, "%12s", "unknown");
    else
        put_fixed(p, 12, step->flops, 0);
    if (measured) {
        put_fixed(p, 12, 1e-3 * step->time.median_ns, 3);
        put_fixed(p, 9, step->gbytes, 1);
        if (step->gflops > 0.0)
            put_fixed(p, 9, step->gflops, 1);
        else
            put_printed(p, "%9s", "-");
    }
    put_printed(p, "  ");
    put_operations(p, step);
    end_line(p);
}

static void print_steps(printer *p, const mw_plan *plan)
{
    const bool measured = plan->totals.time.runs > 0;
    put_printed(p, "step phase threads  %-26s%12s%12s%12s%s  operations", "kernel", "bytes read", "written", "flops",
                measured ? "   median us     GB/s  GFLOP/s" : "");
    end_line(p);
    for (size_t s = 0; s < plan->totals.step_count; s++)
        print_step(p, &plan->steps[s], s, measured);
}

/* ---- implementations ---- */

static bool is_same_choice(const mw_plan_step *a, const mw_plan_step *b)
{
    return strcmp(a->kernel, b->kernel) == 0 && strcmp(a->implementation, b->implementation) == 0 &&
           strcmp(a->declined, b->declined) == 0;
}

/* Steps of the same choice; 0 if an earlier step stands for them. */
static size_t count_choice(const mw_plan *plan, size_t index)
{
    size_t count = 0;
    for (size_t s = 0; s < plan->totals.step_count; s++) {
        const bool same = is_same_choice(&plan->steps[s], &plan->steps[index]);
        if (same && s < index)
            return 0;
        count += same;
    }
    return count;
}

/* Each choice once, so that a long program stays readable. */
static void print_implementations(printer *p, const mw_plan *plan)
{
    put_printed(p, "%-26s  %-24s %5s  declined before it", "kernel", "implementation", "steps");
    end_line(p);
    for (size_t s = 0; s < plan->totals.step_count; s++) {
        const mw_plan_step *step = &plan->steps[s];
        const size_t count = step->implementation[0] != '\0' ? count_choice(plan, s) : 0;
        if (count == 0)
            continue;
        put_printed(p, "%-26.60s  %-24s %5zu  %s", step->kernel, step->implementation, count,
                    step->declined[0] != '\0' ? step->declined : "-");
        end_line(p);
    }
}

/* ---- buffers ---- */

static void print_buffer(printer *p, const mw_plan *plan, size_t index)
{
    static const char *const kinds[] = {"input", "output", "constant", "intermediate"};
    const mw_plan_buffer *b = &plan->buffers[index];
    const char *name = b->name[0] != '\0' ? b->name : "-";
    put_printed(p, "%6zu  %-32.90s %-12s %12llu", index, name, kinds[b->kind], (unsigned long long)b->bytes);
    if (b->kind == MW_PLAN_INTERMEDIATE)
        put_printed(p, " %12llu", (unsigned long long)b->offset);
    else
        put_printed(p, " %12s", "-");
    if (b->used)
        put_printed(p, " %6zu..%-6zu %4zu..%-4zu", b->first_step, b->last_step, b->first_phase, b->last_phase);
    else
        put_printed(p, " %14s %10s", "-", "-");
    if (b->memory != index)
        put_printed(p, "  shares %zu", b->memory);
    end_line(p);
}

static void print_buffers(printer *p, const mw_plan *plan)
{
    put_printed(p, "buffer  %-32s %-12s %12s %12s %14s %10s", "name", "kind", "bytes", "offset", "steps", "phases");
    end_line(p);
    for (size_t b = 0; b < plan->totals.buffer_count; b++)
        print_buffer(p, plan, b);
}

void mw_plan_print(const mw_plan *plan, mw_plan_line *line, void *user)
{
    if (!mw__live_has(plan, MW__LIVE_PLAN) || line == NULL)
        return;
    printer p = {.line = line, .user = user};
    print_totals(&p, &plan->totals);
    print_steps(&p, plan);
    print_implementations(&p, plan);
    print_buffers(&p, plan);
}

/* ---- files ---- */

static void add_line(void *user, const char *line)
{
    mw__text_puts(user, line);
    mw__text_append(user, "\n", 1);
}

mw_status mw_plan_write(const mw_plan *plan, const char *path, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    if (plan != NULL)
        MW_TRY(mw__live_check(plan, MW__LIVE_PLAN, __func__, err));
    if (plan == NULL || path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_plan_write: the %s is NULL", plan == NULL ? "plan" : "path");
    mw__text text;
    mw__text_init(&text, plan->allocator);
    mw_plan_print(plan, add_line, &text);
    mw_status status = mw__text_check(&text, err);
    if (status == MW_OK)
        status = mw__file_write(plan->allocator, path, text.data, text.size, false, err);
    mw__text_deinit(&text);
    return status;
}
