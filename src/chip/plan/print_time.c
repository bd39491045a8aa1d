/* What a run takes, as text for people. */
#include "chip/cost/timing.h"
#include "chip/plan/print.h"

#include <stdio.h>

enum { NAME_WIDTH = 40, NUMBER_WIDTH = 12 };

/* With one decimal, in any locale. */
static void put_number(mw__text *text, double us)
{
    char number[32];
    const double tenths = us * 10.0 + 0.5;
    const long long count = tenths < 9e18 ? (long long)tenths : 9000000000000000000LL;
    snprintf(number, sizeof number, "%lld.%lld", count / 10, count % 10);
    mw__text_printf(text, "%*s", NUMBER_WIDTH, number);
}

static void put_part(mw__text *text, const mw_chip_time *t)
{
    mw__text_printf(text, "  %-*s", NAME_WIDTH, t->name);
    put_number(text, t->low_us);
    mw__text_puts(text, " to ");
    put_number(text, t->high_us);
    mw__text_puts(text, "  ");
    mw__text_puts(text, mw_chip_time_basis_name(t->basis));
    mw__text_printf(text, ": %s\n", t->source);
}

static void put_engines(mw__text *text, const mw_chip_plan *plan)
{
    size_t shared = 0;
    for (size_t i = 0; i < plan->segment_count; i++)
        shared += plan->segments[i].engines > 1;
    mw__text_printf(text, "%zu dispatch%s", plan->segment_count, plan->segment_count == 1 ? "" : "es");
    if (mw__timing_of(plan->chip->chip) != NULL && mw__timing_of(plan->chip->chip)->engines > 1)
        mw__text_printf(text, ", %zu on both engines", shared);
    mw__text_puts(text, "; microseconds, low to high\n");
}

static void put_all(mw__text *text, const mw_chip_plan *plan)
{
    mw__text_printf(text, "%s (%s): ", plan->chip->name,
                    plan->chip->product[0] != '\0' ? plan->chip->product : "in no Mac of its own");
    if (plan->time_count == 0) {
        mw__text_puts(text, "nothing was measured; h13, h16, h17 and h18g (M1, M4, M5, M6) were\n");
        return;
    }
    put_engines(text, plan);
    for (size_t i = 0; i < plan->time_count; i++)
        put_part(text, &plan->times[i]);
}

char *mw_chip_plan_print_time(const mw_chip_plan *plan, mw_error *err)
{
    mw__text text;
    if (mw__skips(err) || mw__chip_plan_writes(plan, __func__, err) != MW_OK)
        return NULL;
    mw__text_init(&text, mw__allocator_default()); /* mw_string_free knows no other */
    put_all(&text, plan);
    return mw__text_take(&text, err);
}
