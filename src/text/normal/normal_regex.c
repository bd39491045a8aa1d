/* Replacing what a pattern finds. */
#include "base/text/error.h"
#include "text/normal/normal.h"
#include "text/regex/regex.h"

#include <string.h>

void mw__normalizer_regex(const mw__normal_step *step, const mw__aligned *in, mw__aligned *out)
{
    size_t at = 0, begin = 0, end = 0;
    while (at < in->size && mw__regex_find(step->regex, in->bytes, in->size, at, &begin, &end, out->err)) {
        mw__aligned_copy(out, in, at, begin - at);
        mw__aligned_put(out, step->content, strlen(step->content), mw__aligned_from(in, end - 1),
                        mw__aligned_to(in, end - 1));
        at = end;
    }
    mw__aligned_copy(out, in, at, in->size - at);
}
