/* The picture of a sweep: the mean of the loss over the value, with a band of one deviation to each side. */
#include "tool/runs/sweep.h"

#include "base/text/error.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 720, HEIGHT = 400, LEFT = 70, RIGHT = 20, TOP = 20, BOTTOM = 50, TICKS = 5 };

typedef struct frame {
    const sweep *s;
    double least, most; /* of the losses */
} frame;

static double x_of(const frame *f, double value)
{
    const double span = log(f->s->high / f->s->low);
    return LEFT + (WIDTH - LEFT - RIGHT) * (span > 0 ? log(value / f->s->low) / span : 0.5);
}

static double y_of(const frame *f, double loss)
{
    return TOP + (HEIGHT - TOP - BOTTOM) * (1.0 - (loss - f->least) / fmax(f->most - f->least, 1e-30));
}

/* Losses far above the best would make all others one line: three times the span from the best to the median is shown.
 */
static void find_range(frame *f)
{
    double mean, deviation, sorted[SWEEP_RUNS_MAX];
    int count = 0;
    for (int i = 0; i < f->s->values; i++) {
        if (!sweep_mean(f->s, i, false, &mean, &deviation))
            continue;
        int at = count++;
        for (; at > 0 && sorted[at - 1] > mean; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = mean;
    }
    f->least = count > 0 ? sorted[0] : 0.0;
    f->most = count > 0 ? fmin(sorted[count - 1], f->least + 3.0 * (sorted[count / 2] - f->least)) : 1.0;
    if (f->most <= f->least)
        f->most = f->least + fmax(fabs(f->least), 1e-6);
    const double margin = 0.08 * (f->most - f->least);
    f->least -= margin;
    f->most += margin;
}

/* Points of the means, moved by `deviations`; forward or back. */
static void put_points(FILE *out, const frame *f, double deviations, bool back)
{
    for (int k = 0; k < f->s->values; k++) {
        const int i = back ? f->s->values - 1 - k : k;
        double mean, deviation;
        if (sweep_mean(f->s, i, false, &mean, &deviation))
            fprintf(out, "%.1f,%.1f ", x_of(f, sweep_value(f->s, i)),
                    y_of(f, fmin(fmax(mean + deviations * deviation, f->least), f->most)));
    }
}

static void put_axes(FILE *out, const frame *f)
{
    for (int i = 0; i < TICKS; i++) {
        const double share = (double)i / (TICKS - 1);
        const double value = f->s->low * pow(f->s->high / f->s->low, share);
        const double loss = f->least + share * (f->most - f->least), x = x_of(f, value), y = y_of(f, loss);
        fprintf(out, "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT, WIDTH - RIGHT, y, y);
        fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n", LEFT - 8, y + 4, loss);
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.3g</text>\n", x, HEIGHT - BOTTOM + 18, value);
    }
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", (WIDTH + LEFT - RIGHT) / 2, HEIGHT - 12,
            f->s->number == SWEEP_RATE    ? "learning rate"
            : f->s->number == SWEEP_BATCH ? "batch"
                                          : "epochs");
}

static void put_picture(FILE *out, const frame *f)
{
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
        "<style>svg{background:#fff}text{fill:#333}.grid{stroke:#ddd}.band{fill:#4477aa;opacity:.25}"
        ".mean{fill:none;stroke:#4477aa;stroke-width:2}circle{fill:#4477aa}.best{fill:#cc3311}"
        "@media(prefers-color-scheme:dark){svg{background:#111}text{fill:#ccc}.grid{stroke:#333}}</style>\n",
        WIDTH, HEIGHT);
    put_axes(out, f);
    fputs("<polygon class=\"band\" points=\"", out);
    put_points(out, f, -1.0, false);
    put_points(out, f, 1.0, true);
    fputs("\"/>\n<polyline class=\"mean\" points=\"", out);
    put_points(out, f, 0.0, false);
    fputs("\"/>\n", out);
    for (int i = 0; i < f->s->values; i++) {
        double mean, deviation;
        if (sweep_mean(f->s, i, false, &mean, &deviation) && mean <= f->most)
            fprintf(out, "<circle%s cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>%.6g: %.5g</title></circle>\n",
                    i == sweep_best(f->s) ? " class=\"best\"" : "", x_of(f, sweep_value(f->s, i)), y_of(f, mean),
                    sweep_value(f->s, i), mean);
    }
    fputs("</svg>\n", out);
}

bool sweep_draw(const sweep *s, const char *path, mw_error *err)
{
    frame f = {.s = s};
    find_range(&f);
    FILE *out = fopen(path, "w");
    if (out != NULL)
        put_picture(out, &f);
    const bool good = out != NULL && ferror(out) == 0;
    const bool closed = out != NULL && fclose(out) == 0;
    if (good && closed)
        return true;
    mw__fail(err, MW_ERROR_FILE, "%.300s cannot be written: %s", path, strerror(errno));
    return false;
}
