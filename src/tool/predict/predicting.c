/* A model on raw data, piece by piece. */
#include "tool/predict/predicting.h"

#include "base/clock.h"
#include "tool/model_text.h"
#include "tool/source.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 32, PIECE_MAX = 1 << 16 };

static struct {
    raw_settings raw;
} o;

picture_settings tool_picture_given;

const tool_option tool_picture_options[] = {
    {"fit", '\0', TOOL_TEXT, &tool_picture_given.fit,
     "how pictures get the size that the model takes (as it says, or crop)", .argument = "HOW",
     .choices = "stretch, crop, pad"},
    {"crop", '\0', TOOL_NUMBER, &tool_picture_given.crop, "the part of a picture that is taken, with crop (1)",
     .argument = "X", .low = 0.001, .high = 1},
    {"scale", '\0', TOOL_NUMBER, &tool_picture_given.scale, "what the bytes of a picture are multiplied with (1/255)",
     .argument = "X", .low = 1e-9, .high = 1e6},
    {"mean", '\0', TOOL_TEXT, &tool_picture_given.mean, "is subtracted from each channel, after that",
     .argument = "R,G,B"},
    {"deviation", '\0', TOOL_TEXT, &tool_picture_given.deviation, "each channel is divided by, after that",
     .argument = "R,G,B"},
    {"order", '\0', TOOL_TEXT, &tool_picture_given.order, "of the channels (rgb)", .argument = "ORDER",
     .choices = "rgb, bgr"},
    {"skip-broken", '\0', TOOL_FLAG, &tool_picture_given.skips_broken, "leave pictures out that cannot be read",
     .argument = NULL},
    TOOL_OPTIONS_END,
};

answer_settings tool_answer_given;

const tool_option tool_answer_options[] = {
    {"result", '\0', TOOL_TEXT, &tool_answer_given.result, "of the model, that is taken (the first of floats)",
     .argument = "NAME"},
    {"task", '\0', TOOL_TEXT, &tool_answer_given.task, "what the model answers (as it says)", .argument = "TASK",
     .choices = "classes, labels, values"},
    {"classes", '\0', TOOL_TEXT, &tool_answer_given.classes, "names of what it answers, a line each (as it says)",
     .argument = "FILE"},
    {"scores", '\0', TOOL_TEXT, &tool_answer_given.scores, "what its numbers of classes are (as they look)",
     .argument = "FORM", .choices = "logits, probabilities"},
    TOOL_OPTIONS_END,
};

const tool_option tool_raw_options[] = {
    {"id", '\0', TOOL_TEXT, &o.raw.id, "the field of a table that names its rows (what counts them, or a number)",
     .argument = "FIELD"},
    {"inputs", '\0', TOOL_TEXT, &o.raw.inputs,
     "fields of a table in the order that the model takes, for a model that "
     "does not say it",
     .argument = "A,B,.."},
    {"target", '\0', TOOL_TEXT, &o.raw.target,
     "the field, or tensor, of what is true, for a model that does not say it", .argument = "NAME"},
    TOOL_OPTIONS(tool_picture_options),
    TOOL_OPTIONS(tool_answer_options),
    TOOL_OPTIONS(tool_running_options),
    TOOL_OPTIONS(tool_reading_options),
    TOOL_OPTIONS_END,
};

/* ---- opening ---- */

static bool open_model(predicting *p, bool *out_usage)
{
    const tool_call *call = p->call;
    const bool is_one = picture_is_file(call->arguments[1]);
    p->model = tool_open_model_batched(call->arguments[0], is_one ? 0 : PIECE, call, out_usage);
    return p->model != NULL;
}

static bool make_room(predicting *p)
{
    const int64_t batch = mw_model_get_info(p->model).batch;
    p->piece = batch > PIECE ? batch : PIECE;
    if (batch > 0 && batch < PIECE)
        p->piece = PIECE / batch * batch;
    if (p->piece > PIECE_MAX)
        p->piece = PIECE_MAX;
    p->scores = malloc((size_t)(p->piece * p->answer.width) * sizeof *p->scores);
    p->predictor = p->scores != NULL ? mw_predictor_create(p->model, p->call->err) : NULL;
    return p->predictor != NULL || raw_fail_memory(p->call->err);
}

int predicting_open(predicting *p, const tool_call *call, bool with_truth)
{
    bool usage;
    *p = (predicting){.call = call};
    if (!tool_check_device())
        return TOOL_USAGE;
    if (!open_model(p, &usage))
        return usage ? TOOL_USAGE : TOOL_FAILED;
    if (!answer_find(&p->answer, &tool_answer_given, p->model, call->arguments[0], call->err))
        return TOOL_FAILED;
    o.raw.picture = tool_picture_given;
    const raw_request request = {.path = call->arguments[1],
                                 .model = p->model,
                                 .model_path = call->arguments[0],
                                 .answer = &p->answer,
                                 .settings = o.raw,
                                 .with_truth = with_truth,
                                 .call = call};
    return raw_open(&p->data, &request, call->err) && make_room(p) ? TOOL_DONE : TOOL_FAILED;
}

/* ---- running ---- */

/* One run over the data. */
typedef struct running {
    predicting *p;
    predicting_take *take;
    void *user;
} running;

static void show_progress(const predicting *p)
{
    enum { PARTS = 10000 };
    char what[32], rate[24];
    const double seconds = mw__clock_seconds() - p->seconds;
    tool_count(rate, sizeof rate, seconds > 0 ? (double)p->data.done / seconds : 0);
    snprintf(what, sizeof what, "%s/s", rate);
    tool_progress(p->call, what, (int64_t)(raw_progress(&p->data) * PARTS), PARTS);
}

static bool predict_piece(void *user, const raw_piece *piece)
{
    const running *r = user;
    predicting *p = r->p;
    const mw_batch batch = {.feeds = piece->feeds, .feed_count = piece->feed_count, .examples = piece->examples};
    const mw_result result = {p->answer.result, MW_F32, p->scores, (size_t)(piece->examples * p->answer.width)};
    if (mw_predictor_predict(p->predictor, &batch, &result, 1, p->call->err) != MW_OK)
        return false;
    answer_finish(&p->answer, p->scores, piece->examples);
    if (!r->take(r->user, p, piece, p->scores))
        return false;
    show_progress(p);
    return true;
}

bool predicting_run(predicting *p, predicting_take *take, void *user)
{
    running r = {p, take, user};
    p->seconds = mw__clock_seconds();
    tool_progress(p->call, "", 0, 1);
    const bool good = raw_each(&p->data, p->piece, predict_piece, &r, p->call->err);
    tool_progress(p->call, "", 1, 1);
    p->seconds = mw__clock_seconds() - p->seconds;
    return good;
}

void predicting_say_rate(const predicting *p, char *out, size_t size)
{
    char rate[24];
    const double per_second = p->seconds > 0 ? (double)p->data.done / p->seconds : 0;
    if (p->call->json != NULL) {
        mw__json_add_integer(p->call->json, "examples", p->data.done);
        mw__json_add_number(p->call->json, "examples_per_second", per_second);
    }
    snprintf(out, size, "%lld %s, %s a second", (long long)p->data.done, p->data.kind->examples,
             tool_count(rate, sizeof rate, per_second));
}

void predicting_close(predicting *p)
{
    raw_close(&p->data);
    answer_free(&p->answer);
    mw_predictor_destroy(p->predictor);
    mw_model_destroy(p->model);
    free(p->scores);
}
