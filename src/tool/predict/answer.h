/* What a model answers: classes, labels or values, which of its results says it, and what its numbers are called. */
#ifndef MW__TOOL_PREDICT_ANSWER_H
#define MW__TOOL_PREDICT_ANSWER_H

#include "tool/classes.h"

#include <millwright/millwright.h>

typedef enum answer_task {
    ANSWER_CLASSES, /* one of several; numbers are probabilities */
    ANSWER_LABELS,  /* each is yes or no; likewise */
    ANSWER_VALUES   /* numbers in the unit of the target */
} answer_task;

/* Options of the command, NULL where nothing is said. */
typedef struct answer_settings {
    const char *result;  /* name of the result */
    const char *task;    /* "classes", "labels", "values" */
    const char *classes; /* a file with a name in each line */
    const char *scores;  /* "logits", "probabilities" */
} answer_settings;

typedef struct answer {
    answer_task task;
    const char *result;    /* of the model */
    int64_t width;         /* numbers of an example */
    class_list names;      /* [width] of classes, labels or values; empty = by number */
    char *target;          /* what is predicted, owned; NULL = not known */
    bool has_form;         /* whether numbers are probabilities is known.. */
    bool is_probabilities; /* ..and true; else softmax or sigmoid makes them so */
} answer;

/* By the options, or else by what the model says. false with err set; answer_free either way. */
bool answer_find(answer *out, const answer_settings *settings, const mw_model *model, const char *path, mw_error *err);
void answer_free(answer *a);
/* "classes", .. */
const char *answer_task_name(answer_task task);
/* The name of number `index`: that of the list, or made of the result and the number. */
const char *answer_name(const answer *a, int64_t index, char *out, size_t size);
/* Makes probabilities of scores [examples, width], in place. */
void answer_finish(answer *a, float *scores, int64_t examples);

#endif
