/* Texts of bounded size against snprintf, at every size. */
#include "base/text/string_builder.h"
#include "support/check.h"

#include <inttypes.h>
#include <stdio.h>

static void write_all(mw__string_builder *builder)
{
    mw__string_builder_puts(builder, "");
    mw__string_builder_puts(builder, "mul(");
    mw__string_builder_number(builder, INT64_MIN);
    mw__string_builder_add(builder, ",;", 1);
    mw__string_builder_number(builder, 40);
    mw__string_builder_puts(builder, ")");
}

static void test_a_phrase_is_what_printf_writes_at_every_size(void)
{
    char whole[64];
    const int length = snprintf(whole, sizeof whole, "mul(%" PRId64 ",%d)", INT64_MIN, 40);
    for (size_t size = 1; size <= (size_t)length + 2; size++) {
        char out[64], wanted[64];
        memset(out, '#', sizeof out);
        snprintf(wanted, size, "mul(%" PRId64 ",%d)", INT64_MIN, 40);
        mw__string_builder builder = mw__string_builder_begin(out, size);
        write_all(&builder);
        CHECK_STR(out, wanted);
        CHECK(builder.full == (size <= (size_t)length));
        CHECK(out[size] == '#');
    }
}

int main(void)
{
    RUN(test_a_phrase_is_what_printf_writes_at_every_size);
    return check_finish();
}
