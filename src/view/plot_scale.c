/* Axes: ends and ticks at round numbers. */
#include "base/text/printable.h"
#include "view/plot.h"

#include <math.h>
#include <string.h>

/* The least of 1, 2, 5 times a power of ten that is not below `value`. */
static double round_up(double value)
{
    const double power = pow(10.0, floor(log10(value)));
    for (int i = 0; i < 3; i++) {
        const double step = power * (i == 0 ? 1.0 : i == 1 ? 2.0 : 5.0);
        if (step >= value * (1.0 - 1e-9))
            return step;
    }
    return power * 10.0;
}

static void set_linear(mw__plot_scale *s, double wanted)
{
    double span = s->high - s->low;
    if (!(span > 0.0) || span < fabs(s->high) * 1e-9) { /* one value */
        span = fabs(s->high) > 0.0 ? fabs(s->high) * 0.1 : 1.0;
        s->low -= span / 2;
        s->high += span / 2;
        span = s->high - s->low;
    }
    s->step = round_up(span / wanted);
    s->low = floor(s->low / s->step + 1e-9) * s->step;
    s->high = ceil(s->high / s->step - 1e-9) * s->step;
    for (double i = 0; s->tick_count < 16 && s->low + i * s->step <= s->high + s->step / 2; i++)
        s->ticks[s->tick_count++] = fabs(s->low + i * s->step) < s->step / 1e6 ? 0.0 : s->low + i * s->step;
}

/* Decades; where there are few of them, 2 and 5 times a decade as well. */
static void set_log(mw__plot_scale *s, double wanted)
{
    const double decades = ceil(s->high - 1e-9) - floor(s->low + 1e-9);
    const double every = decades > wanted ? ceil(decades / wanted) : 1.0;
    static const double factors[] = {0.0, 0.30102999566398120, 0.69897000433601880};
    const int parts = decades * 3 <= wanted + 1 ? 3 : 1;
    if (parts == 1) {
        s->low = floor(s->low + 1e-9);
        s->high = ceil(s->high - 1e-9);
        s->high = s->high > s->low ? s->high : s->low + 1.0;
    } else if (s->high - s->low < 0.05) {
        s->low -= 0.15;
        s->high += 0.15;
    }
    for (double d = floor(s->low + 1e-9); d <= s->high + 1e-9; d += every)
        for (int i = 0; i < parts; i++)
            if (s->tick_count < 16 && d + factors[i] >= s->low - 1e-9 && d + factors[i] <= s->high + 1e-9)
                s->ticks[s->tick_count++] = d + factors[i];
}

mw__plot_scale mw__plot_scale_make(double low, double high, bool log, double from, double to, double apart)
{
    mw__plot_scale s = {.low = low, .high = high, .from = from, .to = to, .log = log};
    const double room = fabs(to - from) / apart, wanted = room < 2.0 ? 2.0 : room > 8.0 ? 8.0 : room;
    if (log) {
        s.low = log10(low);
        s.high = log10(high);
        set_log(&s, wanted);
    } else {
        s.low = low < -1e300 ? -1e300 : low; /* so that spans are finite */
        s.high = high > 1e300 ? 1e300 : high;
        set_linear(&s, wanted);
    }
    return s;
}

double mw__plot_scale_at(const mw__plot_scale *s, double value)
{
    const double own = s->log ? log10(value) : value;
    double part = (own - s->low) / (s->high - s->low);
    part = part < 0.0 ? 0.0 : part > 1.0 ? 1.0 : part;
    return s->from + part * (s->to - s->from);
}

static void put_plain(mw__text *out, double value, int decimals, const char *unit)
{
    char text[64];
    mw__printable_printf(text, sizeof text, "%.*f%s", decimals, value, unit);
    mw__text_puts(out, text);
}

static int decimals_of(double step)
{
    int decimals = 0;
    for (; decimals < 9 && fabs(step - floor(step + 0.5)) > step * 1e-6; decimals++)
        step *= 10.0;
    return decimals;
}

void mw__put_tick(mw__text *out, double value, double step)
{
    char text[64];
    const double size = fabs(value), least = step > 0.0 ? step : size;
    if (size == 0.0) {
        mw__text_puts(out, "0");
    } else if (size >= 1e12 || size < 1e-4 || least < 1e-6) {
        mw__printable_printf(text, sizeof text, step > 0.0 && step < size * 1e-3 ? "%.5g" : "%.3g", value);
        mw__text_puts(out, text);
    } else if (size >= 1e4 && least >= 100.0) {
        const int unit = size >= 1e9 ? 3 : size >= 1e6 ? 2 : 1;
        const double divisor = unit == 3 ? 1e9 : unit == 2 ? 1e6 : 1e3;
        put_plain(out, value / divisor, decimals_of(least / divisor), unit == 3 ? "G" : unit == 2 ? "M" : "k");
    } else {
        put_plain(out, value, decimals_of(least), "");
    }
}
