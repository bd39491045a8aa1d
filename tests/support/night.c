#include "support/night.h"

#include <stdlib.h>
#include <time.h>

bool night_has_come(void)
{
    const char *nightly = getenv("MW_NIGHTLY");
    return nightly != NULL && nightly[0] != '\0';
}

long night_share(long shares)
{
    const char *chosen = getenv("MW_TEST_NIGHT");
    const long night = chosen != NULL ? atol(chosen) : (long)(time(NULL) / 86400);
    return labs(night) % shares;
}
