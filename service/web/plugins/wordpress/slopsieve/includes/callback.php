<?php
/**
 * Hears from the service: signed messages about verdicts that came late, and about decisions.
 *
 * @package Slopsieve
 */

namespace Slopsieve;

if ( ! defined( 'ABSPATH' ) ) {
	exit;
}

// As Standard Webhooks 1.0.0 advises: an older message may be somebody's recording.
const MOST_MESSAGE_AGE_SECONDS = 300;
const CALLBACK_SPACE           = 'slopsieve/v1';
const CALLBACK_EVENTS          = array( 'comment.judged', 'comment.decided' );

add_action( 'rest_api_init', __NAMESPACE__ . '\\add_callback_route' );

/** Serve the address that the service calls. */
function add_callback_route(): void {
	register_rest_route(
		CALLBACK_SPACE,
		'/callback',
		array(
			'methods'             => 'POST',
			'callback'            => __NAMESPACE__ . '\\hear',
			'permission_callback' => __NAMESPACE__ . '\\is_signed',
		)
	);
}

/** Say whether the service signed this message, just now. */
function is_signed( \WP_REST_Request $request ): bool {
	$secret = base64_decode( preg_replace( '/^whsec_/', '', (string) connection( 'secret' ) ), true ); // phpcs:ignore WordPress.PHP.DiscouragedPHPFunctions -- How the secret is written.
	$id     = (string) $request->get_header( 'webhook-id' );
	$at     = (string) $request->get_header( 'webhook-timestamp' );
	if ( ! $secret || ! ctype_digit( $at ) || abs( time() - (int) $at ) > MOST_MESSAGE_AGE_SECONDS ) {
		return false;
	}
	$own = base64_encode( hash_hmac( 'sha256', "$id.$at." . $request->get_body(), $secret, true ) ); // phpcs:ignore WordPress.PHP.DiscouragedPHPFunctions -- How signatures are written.
	foreach ( explode( ' ', (string) $request->get_header( 'webhook-signature' ) ) as $given ) {
		if ( hash_equals( "v1,$own", $given ) ) {
			return true;
		}
	}
	return false;
}

/** Do what a message makes necessary; it is sent again where the service cannot be read now. */
function hear( \WP_REST_Request $request ): \WP_REST_Response {
	$message = $request->get_json_params();
	$data    = is_array( $message['data'] ?? null ) ? $message['data'] : array();
	$comment = comment_sent_as( (string) ( $data['site_comment_id'] ?? '' ) );
	if ( ! $comment ) {
		return new \WP_REST_Response( array( 'status' => 'ignored' ) );
	}
	$id      = (int) $comment->comment_ID;
	$decided = 'comment.decided' === ( $message['type'] ?? '' );
	if ( WAITING !== get_comment_meta( $id, STATE, true ) ) {
		$heard = ! $decided || agree( $id );
	} elseif ( time() - (int) get_comment_meta( $id, ASKED, true ) < BUSY_SECONDS ) {
		// Whoever waits for the answer at this moment hears the verdict, but not what follows it.
		$heard = ! $decided;
	} else {
		update_comment_meta( $id, THERE, sanitize_text_field( (string) ( $data['id'] ?? '' ) ) );
		$heard = try_again( $id );
	}
	if ( $heard && wp_next_scheduled( RETRY ) ) {
		// It is there again, so what waits for it need not wait for a visitor.
		wp_clear_scheduled_hook( RETRY );
		wp_schedule_single_event( time() - 1, RETRY );
		spawn_cron();
	}
	return new \WP_REST_Response( array( 'status' => $heard ? 'done' : 'later' ), $heard ? 200 : 503 );
}
