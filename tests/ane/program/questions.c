/* The tables of questions as items, and as a document. */
#include "question.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const question *const tables[] = {question_products, question_functions, question_limits};
static const char *const titles[] = {"Products", "Functions and rounding", "What is taken"};

enum { TABLES = sizeof tables / sizeof *tables };

const question *question_at(size_t index)
{
    for (size_t t = 0; t < TABLES; t++)
        for (size_t i = 0; tables[t][i].name != NULL; i++)
            if (index-- == 0)
                return &tables[t][i];
    return NULL;
}

bool question_item_at(size_t index, question_item *out)
{
    static const char *const units[] = {"conv", "matmul", "linear"};
    const question *q;
    for (size_t i = 0; (q = question_at(i)) != NULL; i++) {
        const size_t count = q->kind == QUESTION_PRODUCT ? 3 : 1;
        *out = (question_item){q, q->kind, q->kind == QUESTION_PRODUCT && index < 3 ? units[index] : NULL};
        if (index < count)
            return true;
        index -= count;
    }
    return false;
}

void question_item_name(const question_item *item, char *out, size_t size)
{
    snprintf(out, size, "%s%s%s", item->question->name, item->by != NULL ? " by " : "",
             item->by != NULL ? item->by : "");
}

/* ---- the document ---- */

static void put_value(double value)
{
    if (isnan(value))
        printf("NaN");
    else
        printf("%.6g", value);
}

static void put_reading(const question *q, const question_reading *r)
{
    const size_t outputs = q->outputs > 0 ? q->outputs : 1;
    for (size_t i = 0; i < outputs && q->kind != QUESTION_TAKEN; i++) {
        printf("%s", i > 0 ? ", " : "");
        put_value((double)r->value[i]);
    }
    if (q->kind == QUESTION_TAKEN)
        printf("%s", r->value[0] != 0.0f ? "taken" : "refused");
    printf(": ");
    if (r->settles != NULL)
        printf("`%s`", r->settles);
    printf("%s%s", r->settles != NULL && r->says != NULL ? ", " : "", r->says != NULL ? r->says : "");
}

static void put_question(const question *q)
{
    printf("| `%s` | %s | ", q->name, q->asks);
    for (size_t i = 0; i < QUESTION_READINGS && (q->readings[i].settles != NULL || q->readings[i].says != NULL); i++) {
        printf("%s", i > 0 ? "; " : "");
        put_reading(q, &q->readings[i]);
    }
    printf(" | %s |\n", q->source);
}

int question_list(void)
{
    for (size_t t = 0; t < TABLES; t++) {
        printf("\n### %s\n\n| question | what is computed | answers | asked by |\n|---|---|---|---|\n", titles[t]);
        for (size_t i = 0; tables[t][i].name != NULL; i++)
            put_question(&tables[t][i]);
    }
    return 0;
}
