/* Calls that are given NULL: what they say, and that they do nothing after an earlier error. */
#ifndef TESTS_API_REFUSED_H
#define TESTS_API_REFUSED_H

#include "support/check.h"

#include <millwright/millwright.h>

static char skipped_line[1024]; /* the last line that the log hook got */

static void keep_line(void *user, mw_log_level level, const char *line)
{
    (void)user;
    if (level == MW_LOG_DEBUG)
        snprintf(skipped_line, sizeof skipped_line, "%s", line);
}

/* "mw_program_run is skipped, as an earlier call failed: an earlier one", for the text of a call of mw_program_run. */
static bool says_skipped(const char *call)
{
    const size_t length = strcspn(call, "(");
    return strncmp(skipped_line, call, length) == 0 && strncmp(skipped_line + length, " is skipped", 11) == 0 &&
           strstr(skipped_line, "an earlier one") != NULL;
}

#define REFUSED(call)                                                                                                  \
    do {                                                                                                               \
        mw_error err = {0};                                                                                            \
        (void)(call);                                                                                                  \
        check_note(err.status != MW_OK && err.message[0] != '\0', __FILE__, __LINE__, "accepted: %s", #call);          \
        skipped_line[0] = '\0';                                                                                        \
        err = (mw_error){.status = MW_ERROR_FILE, .message = "an earlier one"};                                        \
        (void)(call); /* given a set error, it does nothing but say so */                                              \
        CHECK_INT(err.status, MW_ERROR_FILE);                                                                          \
        check_note(says_skipped(#call), __FILE__, __LINE__, "the log has \"%s\" for %s", skipped_line, #call);         \
    } while (0)

#define YIELDS_NULL(call) CHECK((call) == NULL)

#endif
