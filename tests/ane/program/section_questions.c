/* Open questions about the chip, each a program as it stands, without any rewriting. */
#include "question.h"
#include "section.h"

#include "base/number/fp16.h"
#include "support/folder.h"

#include <math.h>
#include <millwright/ane_e5rt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MASK_ANE = 4 };

static const char *item(size_t index)
{
    static char name[96];
    question_item q;
    if (!question_item_at(index, &q))
        return NULL;
    question_item_name(&q, name, sizeof name);
    return name;
}

/* ---- running ---- */

static bool feed(ane_e5rt_program_t *program, const char *port, const float *data, size_t count)
{
    uint16_t *half = malloc((count + 1) * sizeof *half);
    for (size_t i = 0; half != NULL && i < count; i++)
        half[i] = mw__fp16_from_float(data[i]);
    const bool good = half != NULL && ane_e5rt_program_set_input_fp16(program, port, half, count) == 0;
    free(half);
    return good;
}

static bool compute(const question *q, const question_program *p, float y[QUESTION_VALUES])
{
    static const char *const inputs[] = {"x", "w"};
    const char *const outputs[] = {"y", q->also};
    const size_t in[] = {2 * p->x_count, 2 * p->w_count}, count = q->outputs > 0 ? q->outputs : 1;
    const size_t out[] = {2 * count, 2};
    uint16_t half[QUESTION_VALUES] = {0};
    ane_e5rt_program_t *program = ane_e5rt_program_compile("model.mil", ".", MASK_ANE, inputs, in, 1 + (p->w_count > 0),
                                                           outputs, out, 1 + (q->also != NULL));
    const bool good = program != NULL && feed(program, "x", p->x, p->x_count) &&
                      (p->w_count == 0 || feed(program, "w", p->w, p->w_count)) &&
                      ane_e5rt_program_execute(program) == 0 &&
                      ane_e5rt_program_get_output_fp16(program, "y", half, count) == 0;
    for (size_t i = 0; i < count; i++)
        y[i] = mw__fp16_to_float(half[i]);
    ane_e5rt_program_release(program);
    return good;
}

/* For its own chip; the engine is asked for the one whose arithmetic it has. */
static bool is_taken(void)
{
    const char *profile = getenv("MW_ENGINE_PROFILE");
    char options[96] = "";
    if (profile != NULL && profile[0] == 'h')
        snprintf(options, sizeof options, "TargetArchitecture=%.*s", (int)strcspn(profile, ","), profile);
    return ane_e5rt_compile_check("model.mil", ".", MASK_ANE, options[0] != '\0' ? options : NULL) == 0;
}

/* ---- reading ---- */

static bool is_like(float answer, float reading, float near)
{
    if (isnan(answer) || isnan(reading))
        return isnan(answer) && isnan(reading);
    return answer == reading || (isfinite(reading) && fabsf(answer - reading) <= near * fabsf(reading));
}

static const question_reading *find_reading(const question *q, const float *y, size_t count)
{
    for (size_t i = 0; i < QUESTION_READINGS; i++) {
        const question_reading *r = &q->readings[i];
        bool same = r->settles != NULL || r->says != NULL;
        for (size_t k = 0; k < count; k++)
            same = same && is_like(y[k], r->value[k], q->near);
        if (same)
            return r;
    }
    return NULL;
}

static const char *print_answer(char *out, size_t size, const float *y, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, "%s%.9g (0x%04x)", i > 0 ? ", " : "", (double)y[i],
                               mw__fp16_from_float(y[i]));
    return out;
}

/* "16384 + 16376: inf (0x7c00) -> product_ceiling on; in words". */
static void say_answer(const question *q, const char *answer, const question_reading *r, bool open, ane_result *out)
{
    const char *settles = r != NULL && r->settles != NULL ? r->settles : "";
    const char *says = r != NULL && r->says != NULL ? r->says : open ? "no answer that is expected" : "";
    ane_say(out,
            settles[0] != '\0' ? "settled"
            : open             ? "new"
                               : "told",
            "%s: %s%s%s%s%s", q->asks, answer, settles[0] != '\0' ? " -> " : "", settles, says[0] != '\0' ? "; " : "",
            says);
}

static void answer_taken(const question *q, ane_result *out)
{
    const float y = is_taken() ? 1.0f : 0.0f;
    const question_reading *r = find_reading(q, &y, 1);
    ane_say(out, y != 0.0f ? "taken" : "refused", "%s; %s%s%s", q->asks, r != NULL ? r->says : "",
            y != 0.0f ? "" : ": ", y != 0.0f ? "" : ane_e5rt_last_error());
}

static void answer_number(const question *q, const question_program *p, ane_result *out)
{
    float y[QUESTION_VALUES] = {0};
    char answer[128] = "";
    const size_t count = q->outputs > 0 ? q->outputs : 1;
    if (!compute(q, p, y)) {
        ane_say(out, "refused", "%s: %s", q->asks, ane_e5rt_last_error());
        return;
    }
    const bool expected = q->readings[0].settles != NULL || q->readings[0].says != NULL;
    const question_reading *r = find_reading(q, y, count);
    say_answer(q, print_answer(answer, sizeof answer, y, count), r, expected && r == NULL, out);
}

static void run(size_t index, ane_result *out)
{
    char work[512];
    question_item q;
    question_program program;
    if (!question_item_at(index, &q))
        return;
    if (!question_program_make(&q, &program) || !folder_enter(work)) {
        ane_say(out, "failed", "%s", "no memory, or no folder");
    } else {
        ane_e5rt_set_quiet(1);
        folder_put("model.mil", program.text);
        if (q.kind == QUESTION_TAKEN)
            answer_taken(q.question, out);
        else
            answer_number(q.question, &program, out);
        folder_leave(work);
    }
    question_program_free(&program);
}

const ane_section ane_questions = {"questions", item, run};
