/* What a run left, and whether two runs left the same. */
#include "case.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_name(char out[64], const char *name)
{
    snprintf(out, 64, "%s", name);
    for (char *c = out; *c != '\0'; c++)
        if (*c == '.')
            *c = '_';
}

float *outcome_add(outcome *out, const char *name, size_t count)
{
    static float nowhere[CASE_VALUES];
    if (out->count == CASE_SECTIONS || (size_t)out->used + count > CASE_VALUES)
        return nowhere;
    struct outcome_section *s = &out->sections[out->count++];
    put_name(s->name, name);
    s->first = out->used;
    s->count = (int)count;
    out->used += (int)count;
    return &out->values[s->first];
}

static const struct outcome_section *section(const outcome *of, const char *name)
{
    for (int i = 0; i < of->count; i++)
        if (strcmp(of->sections[i].name, name) == 0)
            return &of->sections[i];
    return NULL;
}

const float *outcome_find(const outcome *of, const char *name, size_t *out_count)
{
    char put[64];
    put_name(put, name);
    const struct outcome_section *s = section(of, put);
    *out_count = s != NULL ? (size_t)s->count : 0;
    return s != NULL ? &of->values[s->first] : NULL;
}

static bool same(float a, float b, double allowed)
{
    if (memcmp(&a, &b, sizeof a) == 0)
        return true;
    return allowed > 0.0 && fabs((double)a - (double)b) <= allowed;
}

static bool section_agrees(const char *name, const float *a, const float *b, int count, double tolerance,
                           char why[CASE_WHY])
{
    double largest = 0.01; /* of a tensor that is nearly 0 the noise of what it was made of counts */
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs((double)a[i]));
    for (int i = 0; i < count; i++)
        if (!same(a[i], b[i], tolerance * largest)) {
            snprintf(why, CASE_WHY, "%s[%d] is %.9g, plain %.9g (%s)", name, i, (double)b[i], (double)a[i],
                     tolerance > 0.0 ? "beyond the tolerance" : "other bits");
            return false;
        }
    return true;
}

/* "prediction" of the plain run is also what every "written .." is held to. */
bool outcome_agrees(const outcome *plain, const outcome *other, const allowance *allowed, char why[CASE_WHY])
{
    int compared = 0;
    for (int i = 0; i < other->count; i++) {
        const struct outcome_section *s = &other->sections[i];
        const char *name = strncmp(s->name, "written", 7) == 0 ? "prediction" : s->name;
        const struct outcome_section *p = section(plain, name);
        if (p == NULL)
            continue;
        if (p->count != s->count) {
            snprintf(why, CASE_WHY, "%s has %d elements, plain %d", s->name, s->count, p->count);
            return false;
        }
        double tolerance = allowed->all;
        if (name != s->name)
            tolerance = fmax(tolerance, strncmp(s->name, "written ~", 9) == 0 ? allowed->other_form : allowed->file);
        if (!section_agrees(s->name, &plain->values[p->first], &other->values[s->first], s->count, tolerance, why))
            return false;
        compared++;
    }
    if (compared < 3)
        snprintf(why, CASE_WHY, "only %d values are in both", compared);
    return compared >= 3;
}
