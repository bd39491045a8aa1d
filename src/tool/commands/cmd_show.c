/* mw draw, mw plot: pictures. */
#include "base/file/file.h"
#include "base/text/string.h"
#include "tool/commands/commands.h"
#include "tool/model_text.h"
#include "tool/show/colors.h"
#include "tool/source.h"

#include <errno.h>
#include <millwright/draw.h>
#include <millwright/plot.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- PNG by the system ---- */

static int run_converter(const char *svg, const char *png)
{
    int status = 0;
    const pid_t child = fork();
    if (child == 0) {
        execlp("rsvg-convert", "rsvg-convert", "-o", png, svg, (char *)NULL);
        _exit(127);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return child > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* Over the file, with its colors in their places. */
static bool put_colors(const char *svg, mw_error *err)
{
    char *text = NULL;
    size_t size;
    mw__text plain;
    const mw_allocator *heap = mw__allocator_or_default(NULL);
    mw__text_init(&plain, heap);
    if (mw__file_read(heap, svg, (size_t)1 << 30, &text, &size, err) == MW_OK)
        tool_put_colors(text, &plain);
    if (mw__text_check(&plain, err) == MW_OK && plain.data != NULL)
        mw__file_write(heap, svg, plain.data, plain.size, false, err);
    mw__text_deinit(&plain);
    mw__free(heap, text);
    return err->status == MW_OK;
}

/* What `write` writes, as SVG or, for a path that ends in .png, converted from it. */
static int write_picture(const char *path, mw_status (*write)(const char *path, void *user, mw_error *err), void *user,
                         const tool_call *call)
{
    char svg[4200];
    if (!mw__string_ends(path, ".png"))
        return write(path, user, call->err) == MW_OK ? TOOL_DONE : TOOL_FAILED;
    snprintf(svg, sizeof svg, "%s.%ld.svg", path, (long)getpid());
    if (write(svg, user, call->err) != MW_OK)
        return TOOL_FAILED;
    const int code = put_colors(svg, call->err) ? run_converter(svg, path) : 1;
    unlink(svg);
    if (code != 0)
        tool_complain("rsvg-convert, which makes PNG of SVG, %s",
                      code == 127 ? "is not there: install librsvg2-bin (Debian) or librsvg (Homebrew)" : "failed");
    return code == 0 ? TOOL_DONE : TOOL_FAILED;
}

/* ---- draw ---- */

static struct {
    const char *out, *title;
    bool operations, unfolded;
} o;

const tool_option tool_draw_options[] = {
    {"out", 'o', TOOL_TEXT, &o.out, "picture: .svg, .png, .dot (Graphviz), or .onnx for Netron", .argument = "FILE"},
    {"title", '\0', TOOL_WORDS, &o.title, "above the picture", .argument = "TEXT"},
    {"operations", '\0', TOOL_FLAG, &o.operations, "a box for each operation instead of each layer", .argument = NULL},
    {"unfolded", '\0', TOOL_FLAG, &o.unfolded, "repeated blocks as often as they are there", .argument = NULL},
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

static mw_draw_options drawing(const char *path)
{
    const char *slash = strrchr(path, '/');
    mw_draw_options options = mw_draw_defaults();
    options.title = o.title != NULL ? o.title : slash != NULL && slash[1] != '\0' ? slash + 1 : path;
    options.operations = o.operations;
    options.unfolded = o.unfolded;
    return options;
}

typedef struct drawn {
    const mw_graph *graph;
    mw_draw_options options;
} drawn;

static mw_status write_svg(const char *path, void *user, mw_error *err)
{
    const drawn *d = user;
    return mw_graph_write_svg(d->graph, path, &d->options, err);
}

int tool_draw(const tool_call *call)
{
    bool usage;
    int code = TOOL_FAILED;
    if (o.out == NULL) {
        tool_complain("draw: --out FILE is missing");
        return TOOL_USAGE;
    }
    if (mw__string_ends(o.out, ".onnx") && TOOL_REFUSE("on an ONNX file", "title", "operations", "unfolded"))
        return TOOL_USAGE;
    mw_model *model = tool_open_model(call->arguments[0], false, call, &usage);
    if (model == NULL)
        return usage ? TOOL_USAGE : TOOL_FAILED;
    drawn d = {mw_model_get_info(model).graph, drawing(call->arguments[0])};
    if (mw__string_ends(o.out, ".onnx"))
        code = tool_write_model(model, call->arguments[0], o.out, call->err) == MW_OK ? TOOL_DONE : TOOL_FAILED;
    else if (mw__string_ends(o.out, ".dot") || mw__string_ends(o.out, ".gv"))
        code = mw_graph_write_dot(d.graph, o.out, &d.options, call->err) == MW_OK ? TOOL_DONE : TOOL_FAILED;
    else
        code = write_picture(o.out, write_svg, &d, call);
    mw_model_destroy(model);
    return code;
}

/* ---- plot ---- */

static struct {
    const char *out, *title;
    const char **series;
    bool log_scale;
    long long columns, width;
    double smoothing;
} p;

const tool_option tool_plot_options[] = {
    {"out", 'o', TOOL_TEXT, &p.out, "picture: .svg or .png", .argument = "FILE"},
    {"series", 's', TOOL_LIST, &p.series, "names, as a shell would match; otherwise all that change",
     .argument = "PATTERN"},
    {"log", '\0', TOOL_FLAG, &p.log_scale, "logarithmic where values reach over a factor of 4", .argument = NULL},
    {"smooth", '\0', TOOL_NUMBER, &p.smoothing, "from 0 to below 1: a smoothed curve over the raw one", .argument = "X",
     .high = 0.999999},
    {"columns", '\0', TOOL_INTEGER, &p.columns, "charts side by side", .argument = "N", .low = 1, .high = 6},
    {"width", '\0', TOOL_INTEGER, &p.width, "of the picture in pixels (960)", .argument = "N", .low = 320,
     .high = 4000},
    {"title", '\0', TOOL_WORDS, &p.title, "above the picture", .argument = "TEXT"},
    TOOL_OPTIONS_END,
};

static mw_status write_plot(const char *path, void *user, mw_error *err)
{
    const tool_call *call = user;
    mw_plot_options options = mw_plot_defaults();
    options.series = p.series;
    while (p.series != NULL && p.series[options.series_count] != NULL)
        options.series_count++;
    options.others = call->arguments + 1;
    options.other_count = (size_t)call->count - 1;
    options.title = p.title;
    options.log_scale = p.log_scale;
    options.smoothing = p.smoothing;
    options.columns = (int)p.columns;
    options.width = p.width > 0 ? (int)p.width : options.width;
    return mw_plot_write_svg(call->arguments[0], path, &options, err);
}

int tool_plot(const tool_call *call)
{
    if (p.out == NULL) {
        tool_complain("plot: --out FILE is missing");
        return TOOL_USAGE;
    }
    return write_picture(p.out, write_plot, (void *)(uintptr_t)call, call);
}
