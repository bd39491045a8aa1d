/* Looking up cases of rewrites, and their texts. */
#include "support/passes/rewrite_cases.h"

#include "support/passes/rewrite_case_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const rewrite_case *rewrite_case_at(size_t index)
{
    const rewrite_case_group *const groups[] = {&rewrite_cases_decompose, &rewrite_cases_parts, &rewrite_cases_fp16,
                                                &rewrite_cases_fit, &rewrite_cases_join};
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        if (index < groups[g]->count)
            return &groups[g]->rows[index];
        index -= groups[g]->count;
    }
    return NULL;
}

static size_t put_with_extent(const char *from, const char *extent, char *out, size_t size)
{
    size_t length = 0;
    for (; *from != '\0'; from++) {
        const size_t count = *from == '@' ? strlen(extent) : 1;
        if (length + count < size)
            memcpy(out + length, *from == '@' ? extent : from, count);
        length += count;
    }
    out[length < size ? length : size - 1] = '\0';
    return length;
}

bool rewrite_case_text(const rewrite_case *c, int64_t extent, char *out, size_t size)
{
    char digits[24], whole[REWRITE_TEXT];
    snprintf(digits, sizeof digits, "%" PRId64, extent);
    const int length = snprintf(whole, sizeof whole, "program(1.3)\n{func main<%s>(%s) {%s} -> (y);}",
                                c->opset != NULL ? c->opset : "ios18", c->inputs, c->body);
    return length < (int)sizeof whole && put_with_extent(whole, digits, out, size) < size;
}

rewrite_draw rewrite_case_draw(const rewrite_case *c, const char *input)
{
    for (size_t i = 0; i < REWRITE_DRAWS && c->draws[i].input != NULL; i++)
        if (strcmp(c->draws[i].input, input) == 0)
            return c->draws[i];
    return (rewrite_draw){.input = input, .low = -2, .high = 2, .step = 0.25};
}
