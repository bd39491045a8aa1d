# The flags of every target of ours. Nothing here is global: a parent project keeps its own.

include(CheckCCompilerFlag)
include(CheckLinkerFlag)
set(CMAKE_REQUIRED_FLAGS -Werror) # clang warns of what another processor or system has
check_c_compiler_flag(-fno-semantic-interposition MW_COMPILER_HAS_NO_INTERPOSITION)
set(CMAKE_REQUIRED_FLAGS)

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
    # A public function may be inlined where it is defined: nobody puts another one in its place.
    if(MW_COMPILER_HAS_NO_INTERPOSITION)
        target_compile_options(${target} PRIVATE -fno-semantic-interposition)
    endif()
    mw_target_sanitizers(${target})
endfunction()

# mw_target_hardening(<target>): what turns an overflow of a buffer into an end of the process, in optimized builds of
# the libraries. Sanitizers look themselves, and some of these get in their way.
function(mw_target_hardening target)
    if(MW_SANITIZE OR MW_TSAN OR MW_FUZZ OR NOT MW_HARDEN)
        return()
    endif()
    set(optimized $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
    foreach(flag -fstack-protector-strong -fstack-clash-protection -fcf-protection)
        string(MAKE_C_IDENTIFIER "MW_COMPILER_HAS${flag}" has)
        set(CMAKE_REQUIRED_FLAGS -Werror) # clang warns of what another processor has
        check_c_compiler_flag(${flag} ${has})
        if(${has})
            target_compile_options(${target} PRIVATE $<${optimized}:${flag}>)
        endif()
    endforeach()
    target_compile_options(${target} PRIVATE $<${optimized}:-U_FORTIFY_SOURCE> $<${optimized}:-D_FORTIFY_SOURCE=2>)
    set(CMAKE_REQUIRED_FLAGS)
    check_linker_flag(C "-Wl,-z,relro,-z,now" MW_LINKER_HAS_NOW)
    get_target_property(type ${target} TYPE)
    if(MW_LINKER_HAS_NOW AND type STREQUAL SHARED_LIBRARY)
        target_link_options(${target} PRIVATE $<${optimized}:-Wl,-z,relro,-z,now>)
    endif()
endfunction()

function(mw_target_sanitizers target)
    if(MW_SANITIZE)
        set(flags -fsanitize=address,undefined -fno-sanitize-recover=all)
    elseif(MW_TSAN)
        set(flags -fsanitize=thread)
    endif()
    if(flags)
        target_compile_options(${target} PRIVATE ${flags} -fno-omit-frame-pointer -g)
        set_target_properties(${target} PROPERTIES C_VISIBILITY_PRESET default) # see mw_inside
        target_link_options(${target} PRIVATE ${flags})
    endif()
    if(MW_FUZZ)
        target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
endfunction()

# mw_export_only(<target> <map> <pattern>...): what a shared library shows, whatever its objects mark as public.
function(mw_export_only target map)
    if(APPLE)
        check_linker_flag(C "-Wl,-exported_symbol,_main" MW_LINKER_HAS_EXPORTED_SYMBOL)
        if(MW_LINKER_HAS_EXPORTED_SYMBOL)
            foreach(pattern ${ARGN})
                target_link_options(${target} PRIVATE "-Wl,-exported_symbol,_${pattern}")
            endforeach()
        endif()
    else()
        # Calls of its own names stay inside, whatever a program or a plugin with the static library in it shows. zig's
        # linker has no such option.
        check_linker_flag(C "-Wl,-Bsymbolic-functions" MW_LINKER_HAS_SYMBOLIC_FUNCTIONS)
        target_link_options(${target} PRIVATE "-Wl,--version-script=${map}")
        if(MW_LINKER_HAS_SYMBOLIC_FUNCTIONS)
            target_link_options(${target} PRIVATE -Wl,-Bsymbolic-functions)
        endif()
        set_property(TARGET ${target} PROPERTY LINK_DEPENDS ${map})
        if(NOT MW_SANITIZE AND NOT MW_TSAN AND NOT MW_FUZZ) # the sanitizers' symbols come with the program
            target_link_options(${target} PRIVATE -Wl,--no-undefined)
        endif()
    endif()
endfunction()
