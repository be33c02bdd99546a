<?php
/**
 * Loads the catalogue of the blog's language, without regard to its country.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

add_action( 'init', __NAMESPACE__ . '\\load_language', 0 );
// A form or a mail may be in another language than the page.
add_action( 'change_locale', __NAMESPACE__ . '\\load_language' );

/** Load the catalogue of the current language. */
function load_language(): void {
	$language = strtok( determine_locale(), '_' );
	$file     = dirname( __DIR__ ) . "/languages/slopsieve-$language.mo";
	if ( preg_match( '/^[a-z]{2,3}$/', $language ) && is_readable( $file ) ) {
		load_textdomain( 'slopsieve', $file );
	}
}
