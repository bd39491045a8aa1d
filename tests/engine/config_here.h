/* The engine's configuration as a compiler that is created now would have it. */
#ifndef TESTS_ENGINE_CONFIG_HERE_H
#define TESTS_ENGINE_CONFIG_HERE_H

#include "engine/core/config.h"

static inline mw__config config_here(void)
{
    mw__config config;
    mw__config_init(&config);
    mw__config_read_environment(&config, NULL);
    return config;
}

static inline mw__level level_here(void) { return config_here().level; }

#endif
