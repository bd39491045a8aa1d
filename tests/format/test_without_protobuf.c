/* A library that was built without protobuf-c says so. */
#include "support/check.h"

#include <millwright/coreml.h>

static void test_every_call_says_what_is_missing(void)
{
    mw_error err = {0};
    CHECK(mw_coreml_read("x.mlpackage", NULL, &err) == NULL);
    CHECK_ERROR(err, MW_ERROR_UNSUPPORTED, "built without protobuf-c");
}

int main(void)
{
    RUN(test_every_call_says_what_is_missing);
    return check_finish();
}
