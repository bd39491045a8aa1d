# The flags of every target of ours. Nothing here is global: a parent project keeps its own.

# mw_target_flags(<target>): language, warnings, floating-point rules, sanitizers.
function(mw_target_flags target)
    set_target_properties(${target} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        POSITION_INDEPENDENT_CODE ON C_VISIBILITY_PRESET hidden)
    target_compile_definitions(${target} PRIVATE
        $<$<PLATFORM_ID:Linux>:_GNU_SOURCE> $<$<PLATFORM_ID:Darwin>:_DARWIN_C_SOURCE>)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wstrict-prototypes -Wmissing-prototypes
        -Wpointer-arith -Wvla $<$<BOOL:${MW_WERROR}>:-Werror>)
    # Results must not depend on what the compiler fuses; errno and traps of libm are never looked at.
    target_compile_options(${target} PRIVATE -ffp-contract=off -fno-math-errno -fno-trapping-math)
    mw_target_sanitizers(${target})
endfunction()

function(mw_target_sanitizers target)
    if(MW_SANITIZE)
        set(flags -fsanitize=address,undefined -fno-sanitize-recover=all)
    elseif(MW_TSAN)
        set(flags -fsanitize=thread)
    endif()
    if(flags)
        target_compile_options(${target} PRIVATE ${flags} -fno-omit-frame-pointer -g)
        target_link_options(${target} PRIVATE ${flags})
    endif()
    if(MW_FUZZ)
        target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
endfunction()
