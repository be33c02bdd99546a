<?php
/**
 * Adds evidence of how it was filled in to the comment form.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// A field that is hidden from people, and the field of the service's script.
const HONEYPOT        = 'slopsieve_homepage';
const FORM_FIELD      = 'slopsieve_form';
const MOST_FORM_CHARS = 4000;
const SCRIPT          = 'slopsieve-form';

add_action( 'wp_enqueue_scripts', __NAMESPACE__ . '\\add_form_script' );
add_filter( 'script_loader_tag', __NAMESPACE__ . '\\pin_form_script', 10, 2 );
add_action( 'comment_form', __NAMESPACE__ . '\\add_honeypot' );

/** Load the service's script on pages with a comment form, if its path is known. */
function add_form_script(): void {
	$script = connection( 'script' );
	if ( $script && is_set_up() && is_singular() && comments_open() ) {
		wp_enqueue_script( SCRIPT, service_address() . $script, array(), md5( (string) connection( 'integrity' ) ), true );
	}
}

/**
 * Add the script's hash, so that browsers refuse any other script.
 *
 * @param string $tag    The tag.
 * @param string $handle The script's name here.
 */
function pin_form_script( $tag, $handle ) {
	if ( SCRIPT !== $handle ) {
		return $tag;
	}
	$pinned = sprintf( ' async crossorigin="anonymous" integrity="%s" src=', esc_attr( (string) connection( 'integrity' ) ) );
	return str_replace( ' src=', $pinned, $tag );
}

/** Request and store the script's path; return true if the service has one. */
function read_form_script(): bool {
	$answer = ask_service( 'PUT', '/v1/site/form' );
	$path   = (string) ( $answer['body']['script'] ?? '' );
	if ( 200 !== $answer['status'] || ! preg_match( '~^/public/[A-Za-z0-9_]+/form\.js$~', $path ) ) {
		return false;
	}
	keep_connection( array( 'script' => $path ) );
	return true;
}

/** Print a field that only programs fill in. */
function add_honeypot(): void {
	if ( is_set_up() ) {
		printf(
			'<p hidden><label>%s <input type="text" name="%s" value="" tabindex="-1" autocomplete="off"></label></p>',
			esc_html__( 'Leave this field empty', 'slopsieve' ),
			esc_attr( HONEYPOT )
		);
	}
}

/** Return the evidence of the submitted form; empty if it does not have the plugin's fields. */
function form_evidence(): array {
	// phpcs:disable WordPress.Security.NonceVerification.Missing -- Forms for visitors have none, and the fields are only sent on.
	if ( ! isset( $_POST[ HONEYPOT ] ) || ! is_string( $_POST[ HONEYPOT ] ) ) {
		return array();
	}
	$form = array( 'honeypot_filled' => '' !== $_POST[ HONEYPOT ] );
	if ( connection( 'script' ) ) {
		$sent          = isset( $_POST[ FORM_FIELD ] ) && is_string( $_POST[ FORM_FIELD ] ) ? sanitize_text_field( wp_unslash( $_POST[ FORM_FIELD ] ) ) : '';
		$form['token'] = strlen( $sent ) <= MOST_FORM_CHARS ? $sent : '';
	}
	// phpcs:enable
	return $form;
}
