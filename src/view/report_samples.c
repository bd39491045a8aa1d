/* Examples that were seen right and wrong, with their pictures. */
#include "base/number/number.h"
#include "view/markup.h"
#include "view/report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { CURVE_WIDTH = 120, CURVE_HEIGHT = 48, LISTED = 8 };

static void put_picture(const mw__report_sample *s, mw__text *out)
{
    const int longest = s->width > s->height ? s->width : s->height;
    const double scale = 96.0 / longest;
    mw__text_puts(out, "<img class=\"pixels\" alt=\"\"");
    mw__put_attribute(out, "width", s->width * scale);
    mw__put_attribute(out, "height", s->height * scale);
    mw__text_puts(out, " src=\"data:image/png;base64,");
    mw__put_png(out, s->pixels, s->width, s->height, s->channels);
    mw__text_puts(out, "\"/>");
}

static void put_curve(const mw__report_sample *s, mw__text *out)
{
    float low = INFINITY, high = -INFINITY;
    bool down = false;
    for (size_t i = 0; i < s->value_count; i++) {
        low = s->values[i] < low ? s->values[i] : low;
        high = s->values[i] > high ? s->values[i] : high;
    }
    mw__text_printf(out, "<svg class=\"curve\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\"><path d=\"",
                    CURVE_WIDTH, CURVE_HEIGHT, CURVE_WIDTH, CURVE_HEIGHT);
    for (size_t i = 0; i < s->value_count; i++) {
        const double part = high > low ? ((double)s->values[i] - (double)low) / ((double)high - (double)low) : 0.5;
        if (!isfinite(part)) {
            down = false;
            continue;
        }
        mw__text_puts(out, down ? "L" : "M");
        mw__put_fixed(out, 2 + (CURVE_WIDTH - 4) * (double)i / (double)(s->value_count - 1), 1);
        mw__text_puts(out, " ");
        mw__put_fixed(out, CURVE_HEIGHT - 2 - part * (CURVE_HEIGHT - 4), 1);
        down = true;
    }
    mw__text_puts(out, "\"/></svg>");
}

static void put_values(const mw__report_sample *s, mw__text *out)
{
    mw__text_puts(out, "<code>");
    for (size_t i = 0; i < s->value_count && i < LISTED; i++) {
        char number[MW__NUMBER_MAX];
        mw__number_print_float(number, s->values[i]);
        mw__text_puts(out, i > 0 ? " " : "");
        mw__text_puts(out, number);
    }
    mw__text_puts(out, "</code>");
}

static void put_sample(const mw__report *r, const mw__report_sample *s)
{
    mw__text *out = r->out;
    const bool right = s->label == s->seen;
    mw__text_printf(out, "<figure class=\"sample %s\">", right ? "good" : "bad");
    if (s->pixels != NULL)
        put_picture(s, out);
    else if (s->value_count > LISTED)
        put_curve(s, out);
    else
        put_values(s, out);
    mw__text_puts(out, "<figcaption><b>");
    mw__put_escaped(out, r->classes.names[s->seen], 40);
    mw__text_puts(out, "</b> ");
    mw__put_exact(out, 100.0 * s->sure, 1);
    mw__text_puts(out, " %");
    if (!right) {
        mw__text_puts(out, "<br/>is ");
        mw__put_escaped(out, r->classes.names[s->label], 40);
    }
    mw__text_printf(out, "<br/><span class=\"dim\">example %" PRId64 "</span></figcaption></figure>\n", s->example);
}

static void put_list(const mw__report *r, const char *title, const mw__report_sample *list, size_t count)
{
    if (count == 0)
        return;
    mw__text_printf(r->out, "<h3>%s</h3><div class=\"samples\">\n", title);
    for (size_t i = 0; i < count; i++)
        put_sample(r, &list[i]);
    mw__text_puts(r->out, "</div>\n");
}

void mw__page_samples(const mw__report *r)
{
    const mw__report_samples *s = &r->samples;
    if (s->right_count + s->wrong_count == 0)
        return;
    mw__section(r->out, "Examples");
    put_list(r, "Seen wrong", s->wrong, s->wrong_count);
    put_list(r, "Seen right", s->right, s->right_count);
    mw__section_end(r->out);
}
